// @ts-check
// The user's accounts at identity providers, and what the server says after a sign-in there.

import { confirmed, copyOf, dateOf, focusHeading, onClick } from './list.js';
import { hasShownSecondFactor } from './login.js';
import { withRecentLogin } from './security.js';
import { userCall } from './user.js';
import { announce, element } from './view.js';

/**
 * @typedef {{id: string, provider: string, email: string | null, created_at: string,
 *   last_used_at: string | null}} Identity
 */

/** @returns {HTMLButtonElement[]} the buttons that link, one for each provider */
const buttons = () => [...document.querySelectorAll('button[data-provider]')];

/** @param {string} provider its name */
function labelOf(provider) {
  return buttons().find((button) => button.dataset.provider === provider)?.dataset.label
    ?? provider;
}

export async function loadProviders() {
  /** @type {{identities: Identity[]}} */
  const { identities } = await userCall('GET', '/identities');
  element('providers').hidden = buttons().length === 0 && identities.length === 0;
  element('providers-count').textContent = identities.length === 0
    ? 'No other account logs you in.' : '';
  element('providers-list').replaceChildren(...identities.map(item));
  const linked = new Set(identities.map(({ provider }) => provider));
  for (const button of buttons()) button.hidden = linked.has(button.dataset.provider ?? '');
  element('again-provider-list').replaceChildren(
    ...buttons().filter((button) => button.hidden).map(again));
}

/** @param {Identity} identity */
function item(identity) {
  const name = labelOf(identity.provider);
  const facts = `${identity.email ?? 'Without an email'}. Linked `
    + `${dateOf(identity.created_at)}, last used ${dateOf(identity.last_used_at)}.`;
  return copyOf('provider-item', { name, facts }, { unlink: () => unlink(identity, name) }, name);
}

/** @param {HTMLButtonElement} button of a provider that is linked */
function again(button) {
  const link = document.createElement('a');
  link.className = 'button';
  link.href = `/api/user/oauth/${button.dataset.provider}`;
  link.textContent = `Log in with ${button.dataset.label}`;
  const entry = document.createElement('li');
  entry.append(link);
  return entry;
}

/**
 * @param {Identity} identity
 * @param {string} name
 */
async function unlink({ id }, name) {
  const text = 'It does not log you in from now on. Your other sessions end.';
  if (!await confirmed(`Unlink ${name}?`, text, `Unlink ${name}`)) return;
  const isUnlinked = await withRecentLogin(async () => {
    await userCall('DELETE', `/identities/${id}`);
    return true;
  });
  if (!isUnlinked) return;
  await loadProviders();
  announce(`${name} was unlinked.`);
  focusHeading('providers');
}

/** Makes the section work; called once. */
export function enableProviders() {
  for (const button of buttons()) {
    onClick(button, async () => {
      const begun = await withRecentLogin(
        () => userCall('POST', `/oauth/${button.dataset.provider}/link`));
      if (begun) location.assign(begun.url);
    });
  }
}

/**
 * Reads what the server has put behind `#` after a sign-in, and removes it from the address. Asks
 * for the second factor where one is needed.
 * @returns {Promise<string>} what is said once the dashboard is shown
 */
export async function endSignIn() {
  const fields = new URLSearchParams(location.hash.slice(1));
  const challenge = fields.get('second_factor');
  const linked = fields.get('linked');
  if (!challenge && !linked) return '';
  history.replaceState(null, '', location.pathname);
  if (challenge) {
    await hasShownSecondFactor({ challenge, factors: (fields.get('factors') ?? '').split(',') });
    return '';
  }
  const button = buttons().find((button) => button.dataset.provider === linked);
  // Any link can have text behind its `#`.
  if (!button) return '';
  return `${button.dataset.label} logs you in from now on. Your other sessions have ended.`;
}
