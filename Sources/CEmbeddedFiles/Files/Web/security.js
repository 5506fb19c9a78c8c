// @ts-check
// "Sign-in and security": the user's email, sessions and password. Other ways of signing in have a module
// and a section each, beside those of this one.

import { Failure } from './api.js';
import { confirmed, copyOf, dateOf, focusHeading, onClick, part } from './list.js';
import { enablePasskeyButton, logInWithPasskey, withSecondFactor } from './login.js';
import { PASSWORD_ERRORS, userCall } from './user.js';
import { announce, element, onSubmit } from './view.js';

/**
 * @typedef {{id: string, created_at: string, last_used_at: string, expires_at: string,
 *   method: string, client: string, agent: string, current: boolean}} Session
 */

/** The session of this page. */
let current = '';
let email = '';
let hasPassword = true;

/** @param {{email: string, email_verified: boolean, has_password: boolean}} user */
export async function loadSecurity(user) {
  email = user.email;
  hasPassword = user.has_password;
  showEmail(user.email_verified);
  showPasswordForm();
  await loadSessions();
}

/** @param {boolean} isVerified */
function showEmail(isVerified) {
  const isOn = element('email').dataset.mailer === 'on';
  element('email-address').textContent = email;
  element('email-state').textContent = isVerified ? 'verified' : 'not verified';
  element('email-verify').hidden = isVerified || !isOn;
  element('email-off').hidden = isVerified || isOn;
}

async function sendVerification() {
  try {
    await userCall('POST', '/email/verification');
  } catch (failure) {
    // In another tab, for example.
    if (!(failure instanceof Failure) || failure.code !== 'email_verified') throw failure;
    showEmail(true);
    focusHeading('email');
    return;
  }
  announce(`A link was sent to ${email}. It can be used once, within 24 hours.`);
}

async function loadSessions() {
  /** @type {{sessions: Session[]}} */
  const { sessions } = await userCall('GET', '/sessions');
  current = sessions.find((session) => session.current)?.id ?? '';
  element('sessions-list').replaceChildren(...sessions.map(sessionItem));
  element('sessions-end').hidden = sessions.length < 2;
}

/** @param {Session} session */
function sessionItem(session) {
  const name = programOf(session.agent);
  const facts = `From ${session.client}. Began ${dateOf(session.created_at)} `
    + `${methodOf(session.method)}, last used ${dateOf(session.last_used_at)}, ends `
    + `${dateOf(session.expires_at)}.`;
  const state = session.current ? 'this session' : '';
  const item = copyOf(
    'session-item', { name, facts, state }, { end: () => end(session, name) },
    `of ${name}, ${dateOf(session.created_at)}`);
  part(item, 'action', 'end').hidden = session.current;
  return item;
}

/** @param {string} method */
function methodOf(method) {
  if (method === 'registration') return 'with the registration';
  if (method.startsWith('provider:')) return `with ${method.slice('provider:'.length)}`;
  return `with a ${method}`;
}

/**
 * @param {string} agent a `User-Agent` field
 * @returns {string} what people call the program
 */
function programOf(agent) {
  const browser = [
    ['Edg', 'Edge'], ['OPR', 'Opera'], ['Firefox', 'Firefox'], ['Chrome', 'Chrome'],
    ['Safari', 'Safari'],
  ].find(([mark]) => agent.includes(`${mark}/`))?.[1];
  const system = [
    ['Android', 'Android'], ['iPhone', 'iPhone'], ['iPad', 'iPad'], ['Windows', 'Windows'],
    ['Mac OS X', 'macOS'], ['CrOS', 'ChromeOS'], ['Linux', 'Linux'],
  ].find(([mark]) => agent.includes(mark))?.[1];
  if (browser) return system ? `${browser} on ${system}` : browser;
  return agent || 'A program without a name';
}

/**
 * @param {Session} session
 * @param {string} name
 */
async function end({ id }, name) {
  if (!await confirmed('End the session?', `${name} has to log in again.`, 'End session')) return;
  await userCall('DELETE', `/sessions/${id}`);
  await loadSessions();
  announce('The session was ended.');
  focusHeading('sessions');
}

async function endOthers() {
  const text = 'Every other browser and program has to log in again. API tokens stay.';
  if (!await confirmed('End all other sessions?', text, 'End sessions')) return;
  await userCall('DELETE', '/sessions');
  await loadSessions();
  announce('All other sessions were ended.');
  focusHeading('sessions');
}

function showPasswordForm() {
  element('password-none').hidden = hasPassword;
  element('password-summary').textContent = hasPassword ? 'Change the password' : 'Set a password';
  element('password-form').setAttribute('aria-label', element('password-summary').textContent);
  element('password-submit').textContent = hasPassword ? 'Change password' : 'Set password';
  const field = element('password-current');
  // A field that is disabled is neither checked nor sent.
  field.disabled = !hasPassword;
  field.closest('.field').hidden = !hasPassword;
  // Password managers take the new password for this name.
  element('password-email').value = email;
}

/**
 * Does what the server does only after a recent login. If it asks for one, the user is asked for
 * the password in a dialog, and the action is done again.
 * @template T
 * @param {() => Promise<T>} action
 * @returns {Promise<T | undefined>} nothing if the user has closed the dialog
 */
export async function withRecentLogin(action) {
  try {
    return await action();
  } catch (failure) {
    if (!(failure instanceof Failure) || failure.code !== 'recent_login_required') throw failure;
  }
  return await isLoggedInAgain() ? action() : undefined;
}

/** @returns {Promise<boolean>} */
function isLoggedInAgain() {
  const dialog = element('again');
  element('again-form').reset();
  element('again-email').value = email;
  element('again-fields').hidden = !hasPassword;
  element('again-submit').hidden = !hasPassword;
  const hasProviders = element('again-provider-list').children.length > 0;
  for (const id of ['again-providers', 'again-provider-list']) element(id).hidden = !hasProviders;
  element('again-none').hidden = hasPassword || hasProviders;
  dialog.returnValue = '';
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      element('again-form').reset();
      resolve(dialog.returnValue === 'done');
    }, { once: true });
  });
}

/** To be called once the user has logged in by the dialog: the new session replaces the old one. */
export async function noteLogin() {
  try {
    await userCall('DELETE', `/sessions/${current}`);
  } catch (failure) {
    if (!(failure instanceof Failure) || failure.code !== 'not_found') throw failure;
  }
  await loadSessions();
  element('again').close('done');
}

/**
 * Makes the section work; called once.
 * @param {(text: string) => void} leave called when the session has ended, with what is said
 */
export function enableSecurity(leave) {
  onClick(element('email-verify'), sendVerification);
  onClick(element('sessions-end'), endOthers);
  onClick(element('logout-here'), async () => {
    await userCall('DELETE', `/sessions/${current}`);
    leave('You are logged out in this browser.');
  });
  onClick(element('logout'), async () => {
    await userCall('POST', '/logout');
    leave('You are logged out, in all browsers and programs.');
  });
  onSubmit(element('password-form'), {
    invalid_credentials: { field: 'current', text: 'This is not your present password.' },
    ...PASSWORD_ERRORS,
  }, async ({ current: present, password, tokens }) => {
    const changed = await withRecentLogin(() => userCall('PUT', '/password', {
      current_password: present ?? null, password, revoke_api_tokens: tokens !== undefined,
    }));
    if (changed) leave('Your password was changed. All sessions have ended: log in again.');
  });
  onSubmit(element('again-form'), {
    invalid_credentials: { field: 'password', text: 'This is not your password.' },
  }, async ({ password }) => {
    if (await withSecondFactor(() => userCall('POST', '/login', { email, password }))) {
      await noteLogin();
    }
  });
  enablePasskeyButton(element('again-passkey'), async () => {
    if (await logInWithPasskey()) await noteLogin();
  });
  element('again-cancel').addEventListener('click', () => element('again').close());
}
