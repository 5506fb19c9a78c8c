// @ts-check
// /reset-password: asks for a link, and sets the new password with the token of one.

import { Failure } from './api.js';
import { PASSWORD_ERRORS, userCall } from './user.js';
import { element, onSubmit, revealWith, showView, takeToken } from './view.js';

/** The token of the link; empty without one. */
let token = '';

function showRequest() {
  const isOn = element('request').dataset.mailer === 'on';
  element('request-form').hidden = !isOn;
  element('request-off').hidden = isOn;
  showView('request');
}

function start() {
  token = takeToken();
  if (token) showView('reset');
  else showRequest();
}

onSubmit(element('request-form'), {
  invalid_email: { field: 'email', text: 'This is not an email.' },
}, async ({ email }) => {
  await userCall('POST', '/password/forgot', { email });
  element('request-form').reset();
  showView('requested');
});
onSubmit(element('reset-form'), PASSWORD_ERRORS, async ({ password, tokens }) => {
  try {
    await userCall('POST', '/password/reset', {
      token, password, revoke_api_tokens: tokens !== undefined,
    });
  } catch (failure) {
    if (!(failure instanceof Failure) || failure.code !== 'invalid_link') throw failure;
    element('reset-form').reset();
    showView('invalid');
    return;
  }
  token = '';
  element('reset-form').reset();
  showView('done');
});
for (const id of ['request-again', 'invalid-again']) {
  element(id).addEventListener('click', (/** @type {Event} */ event) => {
    event.preventDefault();
    showRequest();
  });
}
revealWith('reset-reveal');
// A link that is opened in a tab with this page only changes the fragment.
addEventListener('hashchange', start);
start();
