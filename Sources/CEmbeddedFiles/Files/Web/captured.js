// @ts-check
// /mail: everything that was delivered or captured.

import { Failure, call } from './api.js';
import { enableMail, openMail } from './mail.js';
import { element, textOf } from './view.js';

const PATH = '/mail/messages';
const WAIT_SECONDS = 50;

/** @type {import('./mail.js').Source} */
const captured = {
  list: async (page) => (await call('GET', `${PATH}?page=${page}`)).messages,
  wait: async (since, signal) => (await call(
    'GET', `${PATH}?after=${since ?? 0}&timeout=${WAIT_SECONDS}`, { signal })).messages,
  read: (id) => call('GET', `${PATH}/${id}`),
  url: (id) => `${PATH}/${id}`,
  clear: () => call('DELETE', PATH),
};

enableMail();
try {
  await openMail(captured);
} catch (failure) {
  if (!(failure instanceof Failure)) throw failure;
  element('mail').querySelector('[data-errors]').textContent = textOf(failure);
}
