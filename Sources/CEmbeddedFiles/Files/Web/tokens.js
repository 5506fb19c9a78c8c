// @ts-check
// The user's API tokens.

import { confirmed, copyOf, dateOf, focusHeading } from './list.js';
import { userCall } from './user.js';
import { announce, element, onSubmit } from './view.js';

/**
 * @typedef {{id: string, name: string, created_at: string, last_used_at: string | null,
 *   revoked_at: string | null, expires_at: string | null, scopes: string[]}} Token
 */

export async function loadTokens() {
  /** @type {{tokens: Token[]}} */
  const { tokens } = await userCall('GET', '/tokens');
  const live = tokens.filter((token) => !endOf(token));
  const ended = tokens.filter(endOf);
  element('tokens-list').replaceChildren(...live.map(liveItem));
  element('tokens-count').textContent = live.length === 0 ? 'There is no token.' : '';
  element('tokens-ended').hidden = ended.length === 0;
  element('tokens-ended-list').replaceChildren(...ended.map(endedItem));
}

/**
 * @param {Token} token
 * @returns {string | null} when it ended, if it has
 */
function endOf({ revoked_at: revoked, expires_at: expires }) {
  if (revoked) return revoked;
  return expires && Date.parse(expires) <= Date.now() ? expires : null;
}

/** @param {Token} token */
function liveItem(token) {
  const { name, expires_at: expires } = token;
  const facts = `For ${token.scopes.join(', ')}. Created ${dateOf(token.created_at)}, last used `
    + `${dateOf(token.last_used_at)}, ${expires ? `ends ${dateOf(expires)}` : 'never ends'}.`;
  return copyOf('token-item', { name, facts }, { revoke: () => revoke(token) }, name);
}

/** @param {Token} token */
function endedItem(token) {
  return copyOf('ended-item', { name: token.name, facts: `ended ${dateOf(endOf(token))}` });
}

/** @param {Token} token */
async function revoke({ id, name }) {
  const text = 'Programs that use it are refused from now on.';
  if (!await confirmed(`Revoke ${name}?`, text, 'Revoke token')) return;
  await userCall('DELETE', `/tokens/${id}`);
  await loadTokens();
  announce(`${name} was revoked.`);
  focusHeading('tokens');
}

/** Makes the section work; called once. */
export function enableTokens() {
  /** @type {HTMLFormElement} */
  const form = element('token-form');
  onSubmit(form, {}, async ({ name, expires }) => {
    const scopes = new FormData(form).getAll('scopes');
    const made = await userCall('POST', '/tokens', {
      name: name || null, scopes, expires_in: expires ? Number(expires) : null,
    });
    form.reset();
    element('token-made').hidden = false;
    element('token-secret').value = made.token;
    await loadTokens();
    element('token-secret').focus();
  });
}

/** Removes the secret that is shown. */
export function forgetToken() {
  element('token-made').hidden = true;
  element('token-secret').value = '';
}
