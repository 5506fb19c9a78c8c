// @ts-check
// The lists of the dashboard, and the dialogs that their buttons open.

import { Failure } from './api.js';
import { announce, element, onSubmit, textOf } from './view.js';

/**
 * A copy of a template with texts and buttons.
 * @param {string} template the id of the template
 * @param {Record<string, string>} texts by `data-field`
 * @param {Record<string, () => unknown>} [actions] by `data-action`
 * @param {string} [subject] what the buttons act on, for their names
 * @returns {HTMLElement}
 */
export function copyOf(template, texts, actions = {}, subject = '') {
  const copy = element(template).content.firstElementChild.cloneNode(true);
  for (const [name, text] of Object.entries(texts)) part(copy, 'field', name).textContent = text;
  for (const [name, action] of Object.entries(actions)) {
    const button = part(copy, 'action', name);
    button.setAttribute('aria-label', `${button.textContent} ${subject}`);
    onClick(button, action);
  }
  return copy;
}

/**
 * @param {HTMLElement} copy
 * @param {string} kind
 * @param {string} name
 * @returns {any}
 */
export function part(copy, kind, name) {
  const found = copy.querySelector(`[data-${kind}="${name}"]`);
  if (!found) throw new Error(`the template has no ${kind} ${name}`);
  return found;
}

/**
 * What a button does, once at a time; a failure is shown in the section of the button.
 * @param {HTMLElement} button
 * @param {() => unknown} action
 */
export function onClick(button, action) {
  button.addEventListener('click', () => run(button, action));
}

/**
 * @param {HTMLElement} button
 * @param {() => unknown} action
 */
async function run(button, action) {
  if (button.ariaBusy === 'true') return;
  const error = button.closest('section')?.querySelector('[data-errors]');
  if (error) error.textContent = '';
  announce('');
  button.ariaBusy = 'true';
  try {
    await action();
  } catch (failure) {
    if (!(failure instanceof Failure) || !error) throw failure;
    error.textContent = textOf(failure);
  } finally {
    button.ariaBusy = null;
  }
}

/**
 * @param {string} title
 * @param {string} text what happens
 * @param {string} verb the text of the button that does it
 * @returns {Promise<boolean>}
 */
export function confirmed(title, text, verb) {
  const dialog = element('confirm');
  element('confirm-title').textContent = title;
  element('confirm-text').textContent = text;
  element('confirm-yes').textContent = verb;
  dialog.returnValue = '';
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      // The page may be about to show that the session has ended.
      for (const id of ['confirm-title', 'confirm-text']) element(id).textContent = '';
      resolve(dialog.returnValue === 'yes');
    }, { once: true });
  });
}

/** @type {((password: string) => Promise<void>) | undefined} */
let setPassword;

/**
 * Asks for a new password of a mailbox.
 * @param {string} address
 * @param {(password: string) => Promise<void>} action its failure is shown in the dialog
 */
export function askPassword(address, action) {
  setPassword = action;
  element('reset-form').reset();
  element('reset-address').textContent = address;
  element('reset-username').value = address;
  element('reset').showModal();
}

/** Makes the dialog for passwords work; called once. */
export function enableDialogs() {
  const dialog = element('reset');
  onSubmit(element('reset-form'), {
    password_too_short: { field: 'password', text: 'It needs at least 6 characters.' },
  }, async ({ password }) => {
    await setPassword?.(password);
    dialog.close();
    element('reset-form').reset();
  });
  element('reset-cancel').addEventListener('click', () => dialog.close());
}

/**
 * @param {string | null} text RFC 3339
 * @returns {string} in the time zone of this machine
 */
export function dateOf(text) {
  return text
    ? new Date(text).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'short' }) : 'never';
}

/**
 * Moves the focus to the heading of a section, when the button that had it is gone.
 * @param {string} section
 */
export function focusHeading(section) {
  element(section).querySelector('h2, h3').focus();
}
