// @ts-check
// /verify-email: verifies the email with the token of a link. It waits for the user's click, because
// programs that look for bad links open them, too.

import { Failure } from './api.js';
import { userCall } from './user.js';
import { element, onSubmit, showView, takeToken } from './view.js';

let token = '';

function start() {
  token = takeToken();
  showView(token ? 'confirm' : 'invalid');
}

onSubmit(element('confirm-form'), {}, async () => {
  try {
    await userCall('POST', '/email/verify', { token });
  } catch (failure) {
    if (!(failure instanceof Failure) || failure.code !== 'invalid_link') throw failure;
    showView('invalid');
    return;
  }
  token = '';
  showView('done');
});
// A link that is opened in a tab with this page only changes the fragment.
addEventListener('hashchange', start);
start();
