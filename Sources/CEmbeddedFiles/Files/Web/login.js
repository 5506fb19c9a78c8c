// @ts-check
// Logging in with a passkey, and the dialog for the second factor.

import { Failure } from './api.js';
import { userCall } from './user.js';
import { announce, clearErrors, element, onSubmit, showError, textOf } from './view.js';
import { hasPasskeys, usePasskey } from './webauthn.js';

/** The challenge of the second factor that the dialog asks for. */
let challenge = '';

/**
 * Logs in, and asks for the second factor if the server does.
 * @param {() => Promise<unknown>} first
 * @returns {Promise<boolean>} false if the user has closed the dialog
 */
export async function withSecondFactor(first) {
  try {
    await first();
    return true;
  } catch (failure) {
    if (!(failure instanceof Failure) || failure.code !== 'second_factor_required') throw failure;
    return hasShownSecondFactor(failure.data);
  }
}

/** @returns {Promise<boolean>} as `withSecondFactor` */
export function logInWithPasskey() {
  return withSecondFactor(async () => {
    const options = await userCall('POST', '/login/passkey/options');
    const credential = await usePasskey(options.public_key);
    await userCall('POST', '/login/passkey', { challenge: options.challenge, credential });
  });
}

/**
 * A button that logs in with a passkey; failures are shown in its form.
 * @param {HTMLButtonElement} button
 * @param {() => Promise<void>} action
 */
export function enablePasskeyButton(button, action) {
  button.hidden = !hasPasskeys();
  button.addEventListener('click', async () => {
    const { form } = button;
    if (!form || button.ariaBusy === 'true') return;
    clearErrors(form);
    announce('');
    button.ariaBusy = 'true';
    try {
      await action();
    } catch (failure) {
      if (!(failure instanceof Failure)) throw failure;
      showError(form, undefined, failure.code === 'invalid_credentials'
        ? 'This passkey is not one of a user of this server.' : textOf(failure));
    } finally {
      button.ariaBusy = null;
    }
  });
}

/**
 * @param {{challenge: string, factors: string[]}} required
 * @returns {Promise<boolean>}
 */
export function hasShownSecondFactor(required) {
  const dialog = element('second');
  const { factors } = required;
  challenge = required.challenge;
  reset();
  element('second-recovery').hidden = !factors.includes('recovery_code');
  element('second-passkey').hidden = !factors.includes('passkey') || !hasPasskeys();
  dialog.returnValue = '';
  dialog.showModal();
  element('second-code').focus();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      reset();
      resolve(dialog.returnValue === 'done');
    }, { once: true });
  });
}

function reset() {
  for (const id of ['second-form', 'recovery-form']) {
    element(id).reset();
    clearErrors(element(id));
  }
  element('second-recovery').open = false;
}

/** @param {object} proof */
async function prove(proof) {
  await userCall('POST', '/login/second', { challenge, ...proof });
  element('second').close('done');
}

/** Makes the dialog for the second factor work; called once. */
export function enableSecondFactor() {
  onSubmit(element('second-form'), {
    invalid_credentials: {
      field: 'code', text: 'This is not the present code, or it was used before.',
    },
  }, ({ code }) => prove({ code: code.replaceAll(' ', '') }));
  onSubmit(element('recovery-form'), {
    invalid_credentials: {
      field: 'recovery', text: 'This is not one of your recovery codes, or it was used before.',
    },
  }, ({ recovery }) => prove({ recovery_code: recovery }));
  enablePasskeyButton(element('second-passkey'), async () => {
    const options = await userCall('POST', '/login/passkey/options', { challenge });
    await prove({ credential: await usePasskey(options.public_key) });
  });
  element('second-cancel').addEventListener('click', () => element('second').close());
}
