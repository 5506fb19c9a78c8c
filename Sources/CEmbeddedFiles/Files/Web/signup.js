// @ts-check
// /signup: a challenge, its proof of work, then the account.

import { Failure, call, persist, request } from './api.js';
import { isSupported, solve } from './proof.js';
import {
  announce, element, enableCopying, inSeconds, onSubmit, revealWith, showError, showView, shown,
  speak, valuesOf,
} from './view.js';

/** How many challenges may expire before the signup is given up. */
const MAXIMUM_CHALLENGES = 5;
const EXPIRED = 'challenge not found or expired';

/**
 * The fields that errors are about, and texts for people where the API's is for programs.
 * @type {import('./view.js').FieldErrors}
 */
const FIELD_ERRORS = {
  invalid_address: { field: 'name' },
  address_taken: { field: 'name', text: 'This address is taken. Choose another name.' },
  invalid_domain: { field: 'domain' },
  password_too_short: {
    field: 'password', text: 'The password is too short: it needs at least 6 characters.',
  },
};

/** @typedef {{address: string, password: string}} Account */

/** @type {HTMLFormElement} */
const form = element('form');
/** @type {AbortController | undefined} the signup in progress */
let running;
/** How many quarters of the progress bar screen readers have been told of. */
let quarters = 0;

/** @param {Record<string, string>} values */
async function signUp({ name, domain, password }) {
  const account = { address: `${name}@${domain}`, password };
  running = new AbortController();
  element('bar').value = 0;
  element('detail').textContent = 'Waiting for the server …';
  showView('work');
  try {
    await check(account, running.signal);
    showDone(await create(account, running.signal));
  } catch (error) {
    showView('form');
    if (!running.signal.aborted) throw error;
    announce('Cancelled. No mailbox was created.');
    element('create').focus();
  }
}

/**
 * Sends the account without a proof: the server looks for the proof after address and password, so
 * that what is wrong with them is found before the work is done.
 * @param {Account} account
 * @param {AbortSignal} signal
 */
async function check(account, signal) {
  try {
    await persist(() => call('POST', '/api/accounts', { body: account, signal }), showWait, signal);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'proof of work required') throw error;
  }
}

/**
 * @param {Account} account
 * @param {AbortSignal} signal
 * @returns {Promise<{id: string, address: string, token: string}>}
 */
async function create(account, signal) {
  for (let count = 1; ; count += 1) {
    try {
      return await createOnce(account, signal);
    } catch (error) {
      const isExpired = error instanceof Failure && error.code === EXPIRED;
      if (!isExpired || count === MAXIMUM_CHALLENGES) throw error;
      announce('The challenge has expired. The work begins again with a new one.');
    }
  }
}

/**
 * @param {Account} account
 * @param {AbortSignal} signal
 */
async function createOnce(account, signal) {
  const { data: challenge, date } = await persist(
    () => request('GET', '/api/challenge', { signal }), showWait, signal);
  const { id, salt, difficulty } = challenge;
  // By the clock of the server: the one of this machine may be wrong. What the proof is good for
  // the server decides; this ends work that it would not accept.
  const lifetime = challenge.expires_at - date;
  quarters = 0;
  const nonce = await solve(
    { salt, difficulty }, lifetime > 0 ? lifetime : undefined, showProgress, signal);
  if (nonce === undefined) throw new Failure(EXPIRED, 'The challenge has expired.');
  const body = { ...account, pow: { id, nonce } };
  return persist(() => call('POST', '/api/accounts', { body, signal }), showWait, signal);
}

/** @param {import('./proof.js').Progress} progress */
function showProgress({ tries, expected, chance, perSecond }) {
  const percent = `${Math.floor(chance * 100)}\u00a0%`;
  element('bar').value = chance;
  const average = inSeconds(expected / perSecond);
  element('detail').textContent = `${shown(tries)} tries, ${shown(perSecond)} a second. On average `
    + `${shown(expected)} are needed, which takes ${average}; ${percent} of all searches have `
    + 'ended by now.';
  const reached = Math.floor(chance * 4);
  if (reached > quarters) speak(`Still computing. ${percent} of all searches have ended by now.`);
  quarters = Math.max(quarters, reached);
}

/** @param {number} seconds */
function showWait(seconds) {
  const text = `The server asks to wait. The request is sent again in ${inSeconds(seconds)}.`;
  const detail = element('detail');
  // Said once, and not each second.
  if (!detail.textContent.startsWith('The server asks')) speak(text);
  detail.textContent = text;
}

/** @param {{id: string, address: string, token: string}} account */
function showDone({ id, address, token }) {
  element('done-address').textContent = address;
  element('done-id').textContent = id;
  element('done-token').value = token;
  form.reset();
  announce('');
  element('lead').hidden = true;
  document.title = 'Mailbox created · Postern';
  showView('done');
}

/** Those that anybody may use; the default one is the first. */
async function loadDomains() {
  const { domains } = await persist(() => call('GET', '/api/domains'), () => {});
  for (const { domain, pro_only: isProOnly } of domains) {
    if (!isProOnly) element('domain').add(new Option(domain));
  }
  if (element('domain').length === 0) {
    showError(form, 'domain', 'This server has no domain that everybody may use.');
  }
  showAddress();
}

function showAddress() {
  const { name, domain } = valuesOf(form);
  element('preview').textContent = `${name || '…'}@${domain ?? '…'}`;
}

if (isSupported()) {
  onSubmit(form, FIELD_ERRORS, signUp);
  form.addEventListener('input', showAddress);
  element('cancel').addEventListener('click', () => running?.abort());
  revealWith('reveal');
  enableCopying();
  form.hidden = false;
  try {
    await loadDomains();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    showError(form, 'domain', `${error.message} Load this page again.`);
  }
} else {
  element('unsupported').hidden = false;
}
