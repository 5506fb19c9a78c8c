// @ts-check
// The user's accounts.

import { Failure, call, persist } from './api.js';
import { askPassword, confirmed, copyOf, dateOf, focusHeading, onClick } from './list.js';
import { closeMail, enableMail, openMail } from './mail.js';
import { createAccount, quietCall, userCall } from './user.js';
import { announce, element, onSubmit, showView } from './view.js';

/**
 * @typedef {{id: string, address: string, quota: number, used: number, created_at: string}} Account
 */

const WAIT_SECONDS = 50;

/** Where the list goes on; empty at its end. */
let cursor = '';

/** The list from its beginning, as far as it was shown. */
export async function loadAccounts() {
  const list = element('accounts-list');
  const shown = list.childElementCount;
  const wasWhole = cursor === '';
  /** @type {HTMLElement[]} */
  const items = [];
  cursor = '';
  do {
    items.push(...await nextItems());
  } while (cursor && (items.length < shown || (wasWhole && shown > 0)));
  list.replaceChildren(...items);
  await Promise.all([showCount(), checkMail()]);
}

async function loadMore() {
  const items = await nextItems();
  element('accounts-list').append(...items);
  showMore();
  announce(`${items.length} more accounts are shown.`);
  items[0]?.querySelector('button')?.focus();
}

/** @returns {Promise<HTMLElement[]>} the items of the next page */
async function nextItems() {
  const page = await userCall('GET', `/accounts?cursor=${encodeURIComponent(cursor)}`);
  cursor = page.next_cursor;
  showMore();
  return page.accounts.map(itemOf);
}

function showMore() {
  element('accounts-more').hidden = cursor === '';
}

async function showCount() {
  const { account_count: count, max_accounts: maximum } = await userCall('GET', '/me');
  element('accounts-count').textContent = `${count} of at most ${maximum} accounts.`;
}

/** @param {Account} account */
function itemOf(account) {
  const { id, address, used, quota } = account;
  const created = dateOf(account.created_at);
  const facts = `${megabytes(used)} of ${megabytes(quota)} used, created ${created}`;
  const item = copyOf('account-item', { address, facts }, {
    mail: () => openMailOf(account),
    reset: () => askPassword(address, async (password) => {
      await userCall('PUT', `/accounts/${id}/reset-password`, { password });
      announce(`${address} has its new password. Its tokens have ended.`);
    }),
    delete: () => remove(account),
  }, address);
  item.dataset.id = id;
  return item;
}

/** @param {Account} account */
async function remove({ id, address }) {
  const text = 'Its password and its tokens end at once. Nobody gets this address again.';
  if (!await confirmed(`Delete ${address}?`, text, 'Delete account')) return;
  await userCall('DELETE', `/accounts/${id}`);
  await loadAccounts();
  announce(`${address} was deleted.`);
  focusHeading('accounts');
}

// Mail

/** Where the server has no mail store, nothing is offered that needs one. */
async function checkMail() {
  const list = element('accounts-list');
  const id = list.firstElementChild?.dataset.id;
  if (id === undefined) return;
  let hasMail = true;
  try {
    await quietCall(`/accounts/${id}/messages`);
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    hasMail = failure.code !== 'mail_store_missing';
  }
  list.toggleAttribute('data-mail', hasMail);
  element('mail-missing').hidden = hasMail;
}

/** @param {Account} account */
async function openMailOf({ id, address }) {
  element('mail-address').textContent = address;
  showView('mail');
  const path = `/accounts/${id}/messages`;
  await openMail({
    list: async (page) => (await userCall('GET', `${path}?page=${page}`)).messages,
    wait: async (since, signal) => {
      const after = since === undefined ? '' : `&since=${encodeURIComponent(since)}`;
      return (await quietCall(`${path}/wait?timeout=${WAIT_SECONDS}${after}`, signal)).messages;
    },
    read: (message) => userCall('GET', `${path}/${encodeURIComponent(message)}`),
    url: (message) => `/api/user${path}/${encodeURIComponent(message)}`,
    markRead: (message) => userCall('PUT', `${path}/${encodeURIComponent(message)}/read`),
    markAllRead: () => userCall('PUT', `${path}/read`, { all: true }),
    remove: (message) => userCall('DELETE', `${path}/${encodeURIComponent(message)}`),
  });
}

function leaveMail() {
  const address = element('mail-address').textContent;
  closeMail();
  showView('dashboard');
  const buttons = [...element('accounts-list').querySelectorAll('[data-action="mail"]')];
  buttons.find((each) => each.getAttribute('aria-label') === `Mail ${address}`)?.focus();
}

/** @param {number} bytes */
function megabytes(bytes) {
  return `${(bytes / 1_048_576).toLocaleString('en', { maximumFractionDigits: 1 })} MiB`;
}

/**
 * Offers the domains that the user may make accounts on: the server's, and those that are verified.
 * @returns {Promise<import('./domains.js').Domain[]>} the user's domains
 */
export async function loadChoices() {
  const { domains } = await persist(() => call('GET', '/api/domains'), () => {});
  /** @type {{domains: import('./domains.js').Domain[]}} */
  const { domains: own } = await userCall('GET', '/domains');
  const names = [...domains, ...own.filter((each) => each.verify_status === 'verified')]
    .map((each) => each.domain);
  const select = element('account-domain');
  const chosen = select.value;
  select.replaceChildren(...names.map((name) => new Option(name)));
  if (names.includes(chosen)) select.value = chosen;
  return own;
}

/** Makes the section work; called once. */
export function enableAccounts() {
  const form = element('account-form');
  onSubmit(form, {
    invalid_address: { field: 'name' },
    address_taken: { field: 'name', text: 'This address is taken. Choose another name.' },
    invalid_domain: { field: 'domain' },
    password_too_short: { field: 'password', text: 'It needs at least 6 characters.' },
  }, async ({ name, domain, password }) => {
    const address = `${name}@${domain}`;
    await createAccount({ address, password });
    form.reset();
    await loadAccounts();
    announce(`${address} was created.`);
  });
  onClick(element('accounts-more'), loadMore);
  enableMail();
  onClick(element('mail-close'), leaveMail);
}
