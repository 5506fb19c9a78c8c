// @ts-check
// Passkeys as the browser makes and uses them. The server's options and the browser's answers are
// JSON with bytes in base64url; the browser's functions take and give buffers.

import { Failure } from './api.js';

/** Whether passkeys can work here: browsers have none for a page whose host is a number. */
export function hasPasskeys() {
  return 'PublicKeyCredential' in window && !/^[\d.]+$|^\[/.test(location.hostname);
}

/**
 * @param {any} options the server's `public_key`
 * @returns {Promise<object>} the new passkey for the server
 */
export async function createPasskey(options) {
  const credential = await asked(() => navigator.credentials.create({
    publicKey: {
      ...options,
      challenge: bytesOf(options.challenge),
      user: { ...options.user, id: bytesOf(options.user.id) },
      excludeCredentials: options.excludeCredentials.map(withBytes),
    },
  }));
  return jsonOf(credential, ['clientDataJSON', 'attestationObject']);
}

/**
 * @param {any} options the server's `public_key`
 * @returns {Promise<object>} the signature of a passkey for the server
 */
export async function usePasskey(options) {
  const credential = await asked(() => navigator.credentials.get({
    publicKey: {
      ...options,
      challenge: bytesOf(options.challenge),
      allowCredentials: options.allowCredentials.map(withBytes),
    },
  }));
  return jsonOf(credential, ['clientDataJSON', 'authenticatorData', 'signature', 'userHandle']);
}

/**
 * @param {() => Promise<Credential | null>} question
 * @returns {Promise<any>}
 */
async function asked(question) {
  try {
    return await question();
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    throw error.name === 'InvalidStateError'
      ? new Failure('passkey_exists', 'This device has a passkey of yours already.')
      : new Failure('no_passkey', 'The browser gave no passkey. Try again, or log in otherwise.');
  }
}

/**
 * @param {any} credential
 * @param {string[]} names
 */
function jsonOf(credential, names) {
  const parts = names.filter((name) => credential.response[name])
    .map((name) => [name, textOf(credential.response[name])]);
  const id = textOf(credential.rawId);
  return { id, rawId: id, type: credential.type, response: Object.fromEntries(parts) };
}

/** @param {{id: string, type: string}} credential */
function withBytes(credential) {
  return { ...credential, id: bytesOf(credential.id) };
}

/** @param {string} text base64url */
function bytesOf(text) {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (digit) => digit.charCodeAt(0));
}

/** @param {ArrayBuffer} buffer */
function textOf(buffer) {
  const binary = String.fromCharCode(...new Uint8Array(buffer));
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
