// @ts-check
// Requests of the user who is logged in. The session is a cookie that scripts cannot read.

import { Failure, call, persist } from './api.js';
import { element, inSeconds, speak } from './view.js';

/** The event of `document` when the server does not accept the session any more. */
export const SESSION_ENDED = 'session-ended';

/** What is wrong with a new password of a user. */
export const PASSWORD_ERRORS = {
  password_too_short: { field: 'password', text: 'It needs at least 8 characters.' },
  password_too_common: { field: 'password' },
};

const ENDED = new Set(['unauthorized', 'invalid_or_expired_token']);

/**
 * A request under /api/user. What the server refuses for the moment is repeated after the time that
 * it names; it has changed nothing then.
 * @param {string} method
 * @param {string} path what follows `/api/user`
 * @param {object} [body]
 * @returns {Promise<any>}
 */
export function userCall(method, path, body) {
  return watched(patiently(() => call(method, `/api/user${path}`, { body })));
}

/**
 * A request that nobody looks at, such as a wait for news. It is not repeated.
 * @param {string} path what follows `/api/user`
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export function quietCall(path, signal) {
  return watched(call('GET', `/api/user${path}`, { signal }));
}

/**
 * Says when the session has ended.
 * @template T
 * @param {Promise<T>} result
 * @returns {Promise<T>}
 */
async function watched(result) {
  try {
    return await result;
  } catch (failure) {
    if (failure instanceof Failure && ENDED.has(failure.code)) {
      document.dispatchEvent(new Event(SESSION_ENDED));
    }
    throw failure;
  }
}

/**
 * Creates an account that the user owns. The API takes the cookie under /api/user only, so a token
 * is made for this one request, which can do nothing else and ends by itself after a minute.
 * @param {{address: string, password: string}} account
 */
export async function createAccount(account) {
  const { id, token } = await userCall(
    'POST', '/tokens', { name: 'Dashboard', scopes: ['accounts'], expires_in: 60 });
  try {
    await patiently(() => call('POST', '/api/accounts', { body: account, token }));
  } finally {
    await userCall('DELETE', `/tokens/${id}`);
  }
}

/**
 * @template T
 * @param {() => Promise<T>} attempt
 * @returns {Promise<T>}
 */
async function patiently(attempt) {
  const place = element('waiting');
  try {
    return await persist(attempt, (seconds) => {
      const text = `The server asks to wait. The request is sent again in ${inSeconds(seconds)}.`;
      // Said once, and not each second.
      if (!place.textContent) speak(text);
      place.textContent = text;
    });
  } finally {
    place.textContent = '';
  }
}
