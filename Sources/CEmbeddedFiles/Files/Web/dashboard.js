// @ts-check
// /dashboard: what a user has, and how they log in and out.

import { enableAccounts, loadAccounts, loadChoices } from './accounts.js';
import { Failure } from './api.js';
import { enableDomains, loadDomains } from './domains.js';
import { enableDialogs } from './list.js';
import {
  enablePasskeyButton, enableSecondFactor, logInWithPasskey, withSecondFactor,
} from './login.js';
import { closeMail } from './mail.js';
import { enablePasskeys, loadPasskeys } from './passkeys.js';
import { enableProviders, endSignIn, loadProviders } from './providers.js';
import { enableSecurity, loadSecurity } from './security.js';
import { enableTokens, forgetToken, loadTokens } from './tokens.js';
import { enableTOTP, forgetTOTP, loadTOTP } from './totp.js';
import { PASSWORD_ERRORS, SESSION_ENDED, userCall } from './user.js';
import {
  announce, element, enableCopying, onSubmit, revealWith, showView, textOf,
} from './view.js';
import { enableWebhooks, forgetWebhookSecret, loadWebhooks } from './webhooks.js';

/** Whether the dashboard is shown. */
let isOpen = false;

/** What shows something of the user. */
const PRIVATE = '[data-list], #user, #mail-address, #reset-address, #email-address';

async function showDashboard() {
  const user = await userCall('GET', '/me');
  element('user').textContent = user.email;
  await Promise.all([
    loadAccounts(), loadTokens(), loadDomains(), loadChoices(), loadWebhooks(), loadSecurity(user),
    loadPasskeys(), loadTOTP(), loadProviders(),
  ]);
  isOpen = true;
  showView('dashboard');
}

/**
 * Nothing of the user stays in the page.
 * @param {string} text
 */
function showEntrance(text) {
  isOpen = false;
  forgetToken();
  forgetWebhookSecret();
  forgetTOTP();
  closeMail();
  for (const each of document.querySelectorAll(PRIVATE)) each.replaceChildren();
  for (const form of document.forms) form.reset();
  for (const dialog of document.querySelectorAll('dialog')) dialog.close();
  showView('entrance');
  announce(text);
}

function enableEntrance() {
  onSubmit(element('login-form'), {
    invalid_credentials: { field: 'password', text: 'The email or the password is wrong.' },
  }, async (values) => {
    if (await withSecondFactor(() => userCall('POST', '/login', values))) await showDashboard();
  });
  enablePasskeyButton(element('login-passkey'), async () => {
    if (await logInWithPasskey()) await showDashboard();
  });
  enableSecondFactor();
  const registration = element('register-form');
  registration.hidden = registration.dataset.registration !== 'open';
  element('register-closed').hidden = !registration.hidden;
  onSubmit(registration, {
    invalid_email: { field: 'email', text: 'This is not an email that you can use here.' },
    email_taken: { field: 'email', text: 'This email is registered already.' },
    ...PASSWORD_ERRORS,
  }, async (values) => {
    await userCall('POST', '/register', values);
    await showDashboard();
  });
}

async function start() {
  enableEntrance();
  enableSecurity(showEntrance);
  enablePasskeys();
  enableProviders();
  enableTOTP();
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
    const ended = await endSignIn();
    await showDashboard();
    if (ended) announce(ended);
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    // Without a session the entrance is shown already.
    if (element('entrance').hidden) showEntrance(textOf(failure));
  }
}

if (isSecureContext) await start();
else element('unsupported').hidden = false;
