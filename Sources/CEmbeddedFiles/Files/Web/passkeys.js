// @ts-check
// The user's passkeys.

import { confirmed, copyOf, dateOf, focusHeading } from './list.js';
import { withRecentLogin } from './security.js';
import { userCall } from './user.js';
import { announce, element, onSubmit } from './view.js';
import { createPasskey, hasPasskeys } from './webauthn.js';

/**
 * @typedef {{id: string, name: string, synced: boolean, created_at: string,
 *   last_used_at: string | null}} Passkey
 */

/** The passkey that the dialog renames. */
let renamed = '';

export async function loadPasskeys() {
  /** @type {{passkeys: Passkey[]}} */
  const { passkeys } = await userCall('GET', '/passkeys');
  element('passkeys-list').replaceChildren(...passkeys.map(item));
  element('passkeys-count').textContent = passkeys.length === 0 ? 'There is no passkey.' : '';
}

/** @param {Passkey} passkey */
function item(passkey) {
  const { name } = passkey;
  const facts = `Added ${dateOf(passkey.created_at)}, last used ${dateOf(passkey.last_used_at)}, `
    + `${passkey.synced ? 'on all your devices' : 'on one device'}.`;
  return copyOf('passkey-item', { name, facts }, {
    rename: () => rename(passkey), remove: () => remove(passkey),
  }, name);
}

/** @param {Passkey} passkey */
function rename({ id, name }) {
  renamed = id;
  element('rename-form').reset();
  element('rename-name').value = name;
  element('rename').showModal();
}

/** @param {Passkey} passkey */
async function remove({ id, name }) {
  const text = 'Nobody can log in with it from now on. Your other sessions end. The device keeps '
    + 'its copy until you remove it there, too.';
  if (!await confirmed(`Remove ${name}?`, text, 'Remove passkey')) return;
  const isRemoved = await withRecentLogin(async () => {
    await userCall('DELETE', `/passkeys/${id}`);
    return true;
  });
  if (!isRemoved) return;
  await loadPasskeys();
  announce(`${name} was removed.`);
  focusHeading('passkeys');
}

/** Makes the section work; called once. */
export function enablePasskeys() {
  const form = element('passkey-form');
  element('passkey-add').hidden = !hasPasskeys();
  element('passkeys-unsupported').hidden = hasPasskeys();
  onSubmit(form, {}, async ({ name }) => {
    const options = await withRecentLogin(() => userCall('POST', '/passkeys/options'));
    if (!options) return;
    const credential = await createPasskey(options.public_key);
    await userCall('POST', '/passkeys', { challenge: options.challenge, name, credential });
    form.reset();
    element('passkey-add').open = false;
    await loadPasskeys();
    announce(`${name} was added. Your other sessions have ended.`);
    focusHeading('passkeys');
  });
  onSubmit(element('rename-form'), {}, async ({ name }) => {
    await userCall('PUT', `/passkeys/${renamed}`, { name });
    element('rename').close();
    await loadPasskeys();
    announce(`The passkey is now named ${name}.`);
    focusHeading('passkeys');
  });
  element('rename-cancel').addEventListener('click', () => element('rename').close());
}
