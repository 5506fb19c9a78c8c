// @ts-check
// What both pages do with their elements. Text from the server is only ever set as text.

import { Failure } from './api.js';

/**
 * @param {string} id
 * @returns {any} the element; a page without it is a mistake
 */
export function element(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

/**
 * Shows what was done. Screen readers read it, and the focus stays.
 * @param {string} text
 */
export function announce(text) {
  element('status').textContent = text;
}

/**
 * As `announce`, for screen readers only: what others see elsewhere on the page.
 * @param {string} text
 */
export function speak(text) {
  element('spoken').textContent = text;
}

/**
 * Takes the token of a link out of the page's URL, so that it does not stay in the history.
 * @returns {string} empty if there is none
 */
export function takeToken() {
  const token = location.hash.slice(1);
  if (token) history.replaceState(null, '', location.pathname);
  return token;
}

/**
 * Shows one of the page's views. Where it replaces another one, the focus moves to its heading; the
 * first one leaves the focus where it is, maybe in the header.
 * @param {string} id
 */
export function showView(id) {
  const others = [...document.querySelectorAll('[data-view]')].filter((view) => view.id !== id);
  const isFirst = others.every((view) => view instanceof HTMLElement && view.hidden);
  for (const view of others) view.toggleAttribute('hidden', true);
  element(id).hidden = false;
  if (!isFirst) element(id).querySelector('[tabindex="-1"]')?.focus();
}

/**
 * The fields of a form by their names; what is typed is not trimmed.
 * @param {HTMLFormElement} form
 * @returns {Record<string, string>}
 */
export function valuesOf(form) {
  return Object.fromEntries(
    [...new FormData(form)].map(([name, value]) => [name, String(value)]));
}

/**
 * Removes the errors of a form.
 * @param {HTMLFormElement} form
 */
export function clearErrors(form) {
  for (const text of form.querySelectorAll('.error, .failed')) text.textContent = '';
  for (const field of form.querySelectorAll('[aria-invalid]')) {
    field.removeAttribute('aria-invalid');
  }
}

/**
 * Shows an error at the field that it is about, which gets the focus; else above the button, which
 * gets it then.
 * @param {HTMLFormElement} form
 * @param {string | undefined} name the name of the field
 * @param {string} text
 */
export function showError(form, name, text) {
  const field = name === undefined ? null : form.elements.namedItem(name);
  if (field instanceof HTMLElement) {
    element(`${field.id}-error`).textContent = text;
    field.setAttribute('aria-invalid', 'true');
    field.focus();
    return;
  }
  const summary = form.querySelector('.failed');
  if (summary) summary.textContent = text;
  form.querySelector('button')?.focus();
}

/**
 * @typedef {Record<string, {field: string, text?: string}>} FieldErrors the field that an error of
 *   the API is about, and a text for people where the API's is for programs
 */

/**
 * Runs `action` when the form is sent, once at a time, and shows the failure that it throws.
 * @param {HTMLFormElement} form
 * @param {FieldErrors} fieldErrors
 * @param {(values: Record<string, string>) => Promise<void>} action
 */
export function onSubmit(form, fieldErrors, action) {
  let isBusy = false;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (isBusy) return;
    clearErrors(form);
    announce('');
    if (!isComplete(form)) return;
    isBusy = true;
    try {
      await action(valuesOf(form));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const { field, text } = fieldErrors[error.code] ?? {};
      showError(form, field, text ?? textOf(error));
    } finally {
      isBusy = false;
    }
  });
}

/**
 * @param {Failure} failure
 * @returns {string} for people; what a program would do by itself is left out
 */
export function textOf({ wait, message }) {
  return wait === undefined
    ? message : `The server cannot do this now. Try again in ${inSeconds(wait)}.`;
}

/**
 * Shows the first field that is required and empty as an error.
 * @param {HTMLFormElement} form
 * @returns {boolean} whether there is none
 */
function isComplete(form) {
  for (const field of form.elements) {
    const isField = field instanceof HTMLInputElement || field instanceof HTMLSelectElement;
    if (!isField || !field.required || field.value) continue;
    showError(form, field.name, 'This field must not be empty.');
    return false;
  }
  return true;
}

/**
 * A checkbox that shows what is typed into password fields.
 * @param {string} id
 */
export function revealWith(id) {
  const box = element(id);
  box.addEventListener('change', () => {
    for (const field of box.form.querySelectorAll('[data-secret]')) {
      field.type = box.checked ? 'text' : 'password';
    }
  });
}

/** Buttons with `data-copies` copy the text of the element with that id, or of the one before. */
export function enableCopying() {
  document.addEventListener('click', async ({ target }) => {
    const button = target instanceof Element ? target.closest('[data-copies]') : null;
    if (!(button instanceof HTMLElement)) return;
    const source = button.dataset.copies
      ? element(button.dataset.copies) : button.previousElementSibling;
    try {
      await navigator.clipboard.writeText(source.value ?? source.textContent);
      announce('Copied.');
    } catch {
      getSelection()?.selectAllChildren(source);
      source.select?.();
      announce('Not copied: the browser does not allow it. The text is selected.');
    }
  });
}

/** @param {number} count */
export function shown(count) {
  return Math.round(count).toLocaleString('en');
}

/**
 * @param {number} seconds
 * @returns {string} `1 second`, `7 seconds`
 */
export function inSeconds(seconds) {
  const count = Math.max(1, Math.round(seconds));
  return `${shown(count)} second${count === 1 ? '' : 's'}`;
}
