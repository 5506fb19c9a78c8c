// @ts-check
// /dashboard: what a user has, and how they log in and out.

import { enableAccounts, loadAccounts, loadChoices } from './accounts.js';
import { Failure } from './api.js';
import { enableDomains, loadDomains } from './domains.js';
import { dateOf, enableDialogs, onClick } from './list.js';
import { closeMail } from './mail.js';
import { enableTokens, forgetToken, loadTokens } from './tokens.js';
import { SESSION_ENDED, userCall } from './user.js';
import {
  announce, element, enableCopying, onSubmit, revealWith, showView, textOf,
} from './view.js';
import { enableWebhooks, forgetWebhookSecret, loadWebhooks } from './webhooks.js';

/** Whether the dashboard is shown. */
let isOpen = false;

/** Where the end of the session is kept, which the cookie does not tell to scripts. */
const END_KEY = 'session-end';

/** What shows something of the user. */
const PRIVATE = '[data-list], #user, #mail-address, #reset-address';

const PASSWORD_ERRORS = {
  password_too_short: { field: 'password', text: 'It needs at least 8 characters.' },
  password_too_common: { field: 'password' },
};

/**
 * @param {{email: string, token: string}} opened the token is in the cookie, too
 */
async function enter({ token }) {
  const claims = token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/');
  sessionStorage.setItem(END_KEY, new Date(JSON.parse(atob(claims)).exp * 1000).toISOString());
  await showDashboard();
}

async function showDashboard() {
  const { email } = await userCall('GET', '/me');
  element('user').textContent = email;
  // Password managers take the new password for this name.
  element('password-email').value = email;
  showEnd();
  await Promise.all([
    loadAccounts(), loadTokens(), loadDomains(), loadChoices(), loadWebhooks(),
  ]);
  isOpen = true;
  showView('dashboard');
}

function showEnd() {
  const end = sessionStorage.getItem(END_KEY);
  element('session-end').textContent = end ? `This one ends ${dateOf(end)}.` : '';
}

/**
 * Nothing of the user stays in the page.
 * @param {string} text
 */
function showEntrance(text) {
  isOpen = false;
  sessionStorage.removeItem(END_KEY);
  forgetToken();
  forgetWebhookSecret();
  closeMail();
  for (const each of document.querySelectorAll(PRIVATE)) each.replaceChildren();
  for (const form of document.forms) form.reset();
  for (const dialog of document.querySelectorAll('dialog')) dialog.close();
  showView('entrance');
  announce(text);
}

async function logOut() {
  await userCall('POST', '/logout');
  showEntrance('You are logged out, in all browsers and programs.');
}

function enableEntrance() {
  onSubmit(element('login-form'), {
    invalid_credentials: { field: 'password', text: 'The email or the password is wrong.' },
  }, async (values) => enter(await userCall('POST', '/login', values)));
  const registration = element('register-form');
  registration.hidden = registration.dataset.registration !== 'open';
  element('register-closed').hidden = !registration.hidden;
  onSubmit(registration, {
    invalid_email: { field: 'email', text: 'This is not an email that you can use here.' },
    email_taken: { field: 'email', text: 'This email is registered already.' },
    ...PASSWORD_ERRORS,
  }, async (values) => enter(await userCall('POST', '/register', values)));
}

function enableSession() {
  onClick(element('logout'), logOut);
  onSubmit(element('password-form'), {
    invalid_credentials: { field: 'current', text: 'This is not your present password.' },
    ...PASSWORD_ERRORS,
  }, async ({ current, password, tokens }) => {
    await userCall('PUT', '/password', {
      current_password: current, password, revoke_api_tokens: tokens !== undefined,
    });
    showEntrance('Your password was changed. All sessions have ended: log in again.');
  });
}

async function start() {
  enableEntrance();
  enableSession();
  enableDialogs();
  enableAccounts();
  enableTokens();
  enableDomains();
  enableWebhooks();
  enableCopying();
  revealWith('login-reveal');
  revealWith('register-reveal');
  document.addEventListener(SESSION_ENDED, () => {
    showEntrance(isOpen ? 'The session has ended. Log in again.' : '');
  });
  try {
    await showDashboard();
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    // Without a session the entrance is shown already.
    if (element('entrance').hidden) showEntrance(textOf(failure));
  }
}

if (isSecureContext) await start();
else element('unsupported').hidden = false;
