// @ts-check
// The proof of work, computed by Web Workers.

import { Failure } from './api.js';

/**
 * @typedef {{salt: string, difficulty: number}} Challenge
 * @typedef {{tries: number, expected: number, chance: number, perSecond: number}} Progress
 *   `chance`: the share of searches that have ended after as many tries
 */

const MAXIMUM_WORKERS = 4;

/** Web Crypto exists over https and on this machine only (W3C Secure Contexts). */
export function isSupported() {
  return isSecureContext && 'subtle' in crypto && 'Worker' in globalThis;
}

/**
 * @param {Challenge} challenge
 * @param {number | undefined} seconds the time after which the search is given up, if at all
 * @param {(progress: Progress) => void} onProgress
 * @param {AbortSignal} signal
 * @returns {Promise<string | undefined>} the nonce; `undefined` when the time is over
 */
export async function solve(challenge, seconds, onProgress, signal) {
  signal.throwIfAborted();
  const count = Math.min(navigator.hardwareConcurrency || 1, MAXIMUM_WORKERS);
  /** @type {Worker[]} */
  const workers = [];
  const meter = progressMeter(challenge.difficulty, onProgress);
  /** @type {number | undefined} */
  let timer;
  try {
    return await new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      if (seconds) timer = setTimeout(() => resolve(undefined), seconds * 1000);
      for (let index = 0; index < count; index += 1) {
        const worker = new Worker('/web/proof-worker.js');
        workers.push(worker);
        worker.onerror = () => reject(new Failure('worker', 'The browser computes no proof.'));
        worker.onmessage = ({ data: { tries, nonce } }) => {
          meter(tries);
          if (nonce !== undefined) resolve(nonce);
        };
        worker.postMessage({ ...challenge, prefix: `${index}-` });
      }
    });
  } finally {
    clearTimeout(timer);
    for (const worker of workers) worker.terminate();
  }
}

/**
 * @param {number} difficulty
 * @param {(progress: Progress) => void} onProgress
 * @returns {(tries: number) => void}
 */
function progressMeter(difficulty, onProgress) {
  const expected = 2 ** difficulty;
  const start = performance.now();
  let tries = 0;
  return (more) => {
    tries += more;
    const seconds = Math.max(0.001, (performance.now() - start) / 1000);
    // Each try succeeds with the probability 1/expected, whatever came before.
    onProgress({
      tries, expected, chance: 1 - Math.exp(-tries / expected), perSecond: tries / seconds,
    });
  };
}
