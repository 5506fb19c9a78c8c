// @ts-check
// The user's webhook, and the last attempts to send events to it.

import { confirmed, copyOf, dateOf, focusHeading, part } from './list.js';
import { userCall } from './user.js';
import { announce, element, onSubmit } from './view.js';

/**
 * @typedef {{id: string, url: string, events: string[], status: string, failure_count: number,
 *   last_triggered_at: string | null, created_at: string}} Webhook
 * @typedef {{event_type: string, status_code: number | null, error: string | null,
 *   attempt: number, duration_ms: number, created_at: string}} Delivery
 */

/** @returns {Promise<void>} */
export async function loadWebhooks() {
  /** @type {{webhooks: Webhook[]}} */
  const { webhooks } = await userCall('GET', '/webhooks');
  element('webhooks-list').replaceChildren(...webhooks.map(itemOf));
  element('webhooks-count').textContent = webhooks.length === 0 ? 'There is no webhook.' : '';
  element('webhook-add').hidden = webhooks.length > 0;
}

/** @param {Webhook} webhook */
function itemOf(webhook) {
  const item = copyOf('webhook-item', {
    url: webhook.url, state: webhook.status, facts: factsOf(webhook),
  }, {
    test: () => sendTest(webhook), deliveries: () => showDeliveries(webhook, item),
    rotate: () => rotate(webhook), delete: () => remove(webhook),
  }, 'of the webhook');
  return item;
}

/** @param {Webhook} webhook */
function factsOf(webhook) {
  const failed = webhook.failure_count === 1
    ? '1 event has failed' : `${webhook.failure_count} events in a row have failed`;
  return `Created ${dateOf(webhook.created_at)}, last sent ${dateOf(webhook.last_triggered_at)}, `
    + `${webhook.failure_count === 0 ? 'no event has failed since' : failed}.`;
}

/** @param {Webhook} webhook */
async function sendTest({ id }) {
  await userCall('POST', `/webhooks/${id}/test`);
  announce('A test event is being sent. Its deliveries show what became of it.');
}

/**
 * @param {Webhook} webhook
 * @param {HTMLElement} item
 */
async function showDeliveries({ id }, item) {
  /** @type {{deliveries: Delivery[]}} */
  const { deliveries } = await userCall('GET', `/webhooks/${id}/deliveries`);
  part(item, 'field', 'attempts').replaceChildren(...deliveries.map((each) => copyOf('attempt-item', {
    what: each.event_type, state: each.error ? 'not accepted' : 'accepted',
    facts: `${dateOf(each.created_at)}, attempt ${each.attempt}, ${each.duration_ms} ms: `
      + `${each.error ?? `the response has status ${each.status_code}`}`,
  })));
  part(item, 'part', 'deliveries').hidden = false;
  announce(deliveries.length === 0 ? 'Nothing was sent yet.' : '');
}

/** @param {Webhook} webhook */
async function rotate({ id }) {
  const text = 'Events are signed with the new secret from now on.';
  if (!await confirmed('Replace the secret?', text, 'Replace secret')) return;
  await showSecret(await userCall('POST', `/webhooks/${id}/rotate`));
}

/** @param {Webhook} webhook */
async function remove({ id }) {
  const text = 'No events are sent from now on, nor those that wait.';
  if (!await confirmed('Delete the webhook?', text, 'Delete webhook')) return;
  await userCall('DELETE', `/webhooks/${id}`);
  forgetWebhookSecret();
  await loadWebhooks();
  announce('The webhook was deleted.');
  focusHeading('webhooks');
}

/** @param {{secret: string}} issued */
async function showSecret({ secret }) {
  element('webhook-made').hidden = false;
  element('webhook-secret').value = secret;
  await loadWebhooks();
  element('webhook-secret').focus();
}

/** Makes the section work; called once. */
export function enableWebhooks() {
  const form = element('webhook-form');
  onSubmit(form, {
    invalid_url: { field: 'url' },
    webhook_exists: { field: 'url' },
  }, async ({ url }) => {
    const made = await userCall('POST', '/webhooks', { url });
    form.reset();
    await showSecret(made);
  });
}

/** Removes the secret that is shown. */
export function forgetWebhookSecret() {
  element('webhook-made').hidden = true;
  element('webhook-secret').value = '';
}
