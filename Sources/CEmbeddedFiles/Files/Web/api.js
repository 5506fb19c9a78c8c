// @ts-check
// Requests to the accounts API of this server.

/** A response that is not a success, or none. */
export class Failure extends Error {
  /**
   * @param {string} code the API's `error`; `network` where there was no response
   * @param {string} message
   * @param {number} [wait] seconds after which the same request may be sent again
   * @param {any} [data] the body of the response
   */
  constructor(code, message, wait, data) {
    super(message);
    this.name = 'Failure';
    this.code = code;
    this.wait = wait;
    this.data = data;
  }
}

const MAXIMUM_ATTEMPTS = 8;
const MAXIMUM_WAIT_SECONDS = 600;

/**
 * @param {string} method
 * @param {string} path
 * @param {{body?: object, token?: string, signal?: AbortSignal}} [options]
 * @returns {Promise<{data: any, date: number}>} the body, `null` without one, and the server's time
 *   in Unix seconds
 */
export async function request(method, path, options = {}) {
  const { body, token, signal } = options;
  const headers = new Headers({ Accept: 'application/json' });
  if (body) headers.set('Content-Type', 'application/json');
  if (token) headers.set('Authorization', `Bearer ${token}`);
  const text = body && JSON.stringify(body);
  const response = await send(path, { method, headers, body: text, signal });
  const data = await json(response, signal);
  if (response.ok) return { data, date: Date.parse(response.headers.get('Date') ?? '') / 1000 };
  throw failureOf(response, data);
}

/**
 * As `request`; returns the body alone.
 * @param {string} method
 * @param {string} path
 * @param {{body?: object, token?: string, signal?: AbortSignal}} [options]
 * @returns {Promise<any>}
 */
export async function call(method, path, options) {
  return (await request(method, path, options)).data;
}

/**
 * @param {string} path
 * @returns {Promise<Blob>} the body as it is
 */
export async function fileAt(path) {
  const response = await send(path, {});
  if (!response.ok) throw failureOf(response, await json(response));
  try {
    return await response.blob();
  } catch {
    throw unreachable();
  }
}

/**
 * Repeats what the server has refused for the moment (429, 503), after the time that it names.
 * @template T
 * @param {() => Promise<T>} attempt
 * @param {(seconds: number) => void} onSecond told each second how many are left
 * @param {AbortSignal} [signal]
 * @returns {Promise<T>}
 */
export async function persist(attempt, onSecond, signal) {
  for (let count = 1; ; count += 1) {
    try {
      return await attempt();
    } catch (failure) {
      const wait = failure instanceof Failure ? failure.wait : undefined;
      if (wait === undefined || wait > MAXIMUM_WAIT_SECONDS || count === MAXIMUM_ATTEMPTS) {
        throw failure;
      }
      await countDown(wait, onSecond, signal);
    }
  }
}

/**
 * @param {number} seconds
 * @param {(seconds: number) => void} onSecond
 * @param {AbortSignal} [signal]
 */
async function countDown(seconds, onSecond, signal) {
  const end = performance.now() + seconds * 1000;
  for (let left = seconds; left > 0; left = Math.ceil((end - performance.now()) / 1000)) {
    onSecond(left);
    await new Promise((resolve) => setTimeout(resolve, Math.min(1000, end - performance.now())));
    signal?.throwIfAborted();
  }
}

/**
 * @param {string} path
 * @param {RequestInit} options
 */
async function send(path, options) {
  try {
    return await fetch(path, { ...options, cache: 'no-store', redirect: 'error' });
  } catch (error) {
    options.signal?.throwIfAborted();
    throw unreachable();
  }
}

/**
 * @param {Response} response
 * @param {AbortSignal} [signal]
 */
async function json(response, signal) {
  if (response.status === 204) return null;
  try {
    return await response.json();
  } catch (error) {
    signal?.throwIfAborted();
    // A proxy has answered, or the connection broke in the middle.
    if (error instanceof SyntaxError) return null;
    throw unreachable();
  }
}

function unreachable() {
  return new Failure('network', 'The server did not answer. Check the connection, then try again.');
}

/**
 * @param {Response} response
 * @param {any} data its body
 */
function failureOf(response, data) {
  return new Failure(
    data?.error ?? `status ${response.status}`,
    data?.message ?? `The server answered with status ${response.status}.`,
    waitOf(response), data);
}

/** @param {Response} response */
function waitOf(response) {
  const seconds = Number(response.headers.get('Retry-After') ?? NaN);
  return Number.isInteger(seconds) && seconds > 0 ? seconds : undefined;
}
