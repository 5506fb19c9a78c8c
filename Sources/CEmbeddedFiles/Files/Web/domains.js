// @ts-check
// The user's domains, and the DNS records that prove them.

import { loadChoices } from './accounts.js';
import { confirmed, copyOf, dateOf, focusHeading, part } from './list.js';
import { userCall } from './user.js';
import { announce, element, onSubmit } from './view.js';

/**
 * @typedef {{id: string, domain: string, verify_status: string, verified_at: string | null,
 *   mx_configured: boolean, created_at: string}} Domain
 * @typedef {{type: string, host: string, value: string, priority?: number, ok?: boolean}} DNSRecord
 */

/** @returns {Promise<void>} */
export async function loadDomains() {
  /** @type {{domains: Domain[]}} */
  const { domains } = await userCall('GET', '/domains');
  element('domains-list').replaceChildren(...domains.map(itemOf));
  element('domains-count').textContent = domains.length === 0 ? 'There is no domain.' : '';
}

/** @param {Domain} domain */
function itemOf(domain) {
  const item = copyOf('domain-item', {
    domain: domain.domain, state: domain.verify_status, facts: factsOf(domain),
  }, { check: () => check(domain, item), delete: () => remove(domain) }, domain.domain);
  item.dataset.id = domain.id;
  return item;
}

/** @param {Domain} domain */
function factsOf(domain) {
  if (domain.verify_status !== 'verified') return `added ${dateOf(domain.created_at)}`;
  const mail = domain.mx_configured ? 'mail arrives here' : 'its MX record does not lead here';
  return `since ${dateOf(domain.verified_at)}; ${mail}`;
}

/**
 * @param {Domain} domain
 * @param {HTMLElement} item
 */
async function check({ id, domain }, item) {
  const found = await userCall('POST', `/domains/${id}/verify`);
  part(item, 'field', 'state').textContent = found.verify_status;
  showRecords(item, found.dns_records);
  const now = (await loadChoices()).find((each) => each.id === id);
  if (now) part(item, 'field', 'facts').textContent = factsOf(now);
  announce(`${domain}: ${found.message}`);
}

/**
 * @param {HTMLElement} item
 * @param {DNSRecord[]} records
 */
function showRecords(item, records) {
  const place = part(item, 'field', 'records');
  place.replaceChildren(...records.map(({ type, host, value, priority, ok }) => {
    const state = ok === undefined ? '' : ok ? 'found' : 'not found';
    const record = copyOf('record-item', {
      type, host, value, state, priority: priority === undefined ? '' : String(priority),
    });
    if (priority === undefined) {
      for (const each of record.querySelectorAll('[data-part="priority"]')) each.remove();
    }
    for (const button of record.querySelectorAll('button')) {
      button.setAttribute('aria-label', `Copy ${button.dataset.what} of the ${type} record`);
    }
    return record;
  }));
  part(item, 'part', 'records').hidden = false;
}

/** @param {Domain} domain */
async function remove({ id, domain }) {
  const text = 'No accounts can be made on it from now on.';
  if (!await confirmed(`Delete ${domain}?`, text, 'Delete domain')) return;
  await userCall('DELETE', `/domains/${id}`);
  await loadDomains();
  await loadChoices();
  announce(`${domain} was deleted.`);
  focusHeading('domains');
}

/** Makes the section work; called once. */
export function enableDomains() {
  const form = element('domain-form');
  onSubmit(form, {
    invalid_domain: { field: 'domain', text: 'This is not the name of a domain.' },
    domain_already_exists: { field: 'domain', text: 'This domain is in use here already.' },
    domain_limit_reached: { field: 'domain' },
  }, async ({ domain }) => {
    const added = await userCall('POST', '/domains', { domain });
    form.reset();
    await loadDomains();
    const item = element('domains-list').querySelector(`[data-id="${added.id}"]`);
    if (item) showRecords(item, added.dns_records);
    announce(`${added.domain} was added. Publish its DNS records, then check them.`);
    item?.querySelector('button')?.focus();
  });
}
