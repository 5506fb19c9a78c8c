// @ts-check
// One-time codes and recovery codes: the second factor.

import { confirmed, dateOf, focusHeading, onClick } from './list.js';
import { withRecentLogin } from './security.js';
import { userCall } from './user.js';
import { announce, element, onSubmit } from './view.js';

/** The enrolment that the form confirms. */
let enrolment = '';

export async function loadTOTP() {
  /** @type {{enabled: boolean, created_at: string | null, recovery_codes_left: number}} */
  const { enabled, created_at: created, recovery_codes_left: left } = await userCall('GET', '/totp');
  element('totp-state').textContent = enabled
    ? `On since ${dateOf(created)}. Unused recovery codes: ${left}.`
    : 'Off. When they are on, a login with the password needs a code of an app on your phone, too.';
  element('totp-begin').hidden = enabled;
  element('totp-codes').hidden = !enabled;
  element('totp-remove').hidden = !enabled;
}

async function begin() {
  const begun = await withRecentLogin(() => userCall('POST', '/totp'));
  if (!begun) return;
  enrolment = begun.enrolment;
  element('totp-secret').textContent = begun.secret;
  const image = element('totp-image');
  image.hidden = begun.svg === null;
  if (begun.svg !== null) image.src = `data:image/svg+xml,${encodeURIComponent(begun.svg)}`;
  element('totp-begin').hidden = true;
  element('totp-setup').hidden = false;
  element('totp-setup-title').focus();
}

/** @param {string[]} codes */
function showCodes(codes) {
  element('totp-recovery').hidden = false;
  element('totp-recovery-codes').textContent = codes.join('\n');
  element('totp-recovery-title').focus();
}

async function replaceCodes() {
  const text = 'The present recovery codes do not count any more. Your other sessions end.';
  if (!await confirmed('Make new recovery codes?', text, 'Make new codes')) return;
  const made = await withRecentLogin(() => userCall('POST', '/recovery-codes'));
  if (!made) return;
  await loadTOTP();
  showCodes(made.recovery_codes);
}

async function remove() {
  const text = 'The password alone is enough to log in then. Recovery codes and your other '
    + 'sessions end.';
  if (!await confirmed('Turn one-time codes off?', text, 'Turn off')) return;
  const isRemoved = await withRecentLogin(async () => {
    await userCall('DELETE', '/totp');
    return true;
  });
  if (!isRemoved) return;
  forgetTOTP();
  await loadTOTP();
  announce('One-time codes are off.');
  focusHeading('totp');
}

function closeSetup() {
  enrolment = '';
  element('totp-form').reset();
  element('totp-setup').hidden = true;
  element('totp-secret').textContent = '';
  element('totp-image').removeAttribute('src');
}

/** Removes the secrets that are shown. */
export function forgetTOTP() {
  closeSetup();
  element('totp-recovery').hidden = true;
  element('totp-recovery-codes').textContent = '';
}

/** Makes the section work; called once. */
export function enableTOTP() {
  onClick(element('totp-begin'), begin);
  onClick(element('totp-codes'), replaceCodes);
  onClick(element('totp-remove'), remove);
  onSubmit(element('totp-form'), {
    invalid_code: {
      field: 'code', text: 'This is not the present code. Check the time of the phone.',
    },
  }, async ({ code }) => {
    const made = await withRecentLogin(() => userCall(
      'POST', '/totp/confirm', { enrolment, code: code.replaceAll(' ', '') }));
    if (!made) return;
    closeSetup();
    await loadTOTP();
    showCodes(made.recovery_codes);
  });
  onClick(element('totp-cancel'), async () => {
    closeSetup();
    await loadTOTP();
    focusHeading('totp');
  });
}
