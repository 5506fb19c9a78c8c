// @ts-check
// Lists and shows messages, those of an account or all captured ones.

import { Failure, fileAt } from './api.js';
import { confirmed, copyOf, dateOf, onClick, part } from './list.js';
import { cleaned, frameOf } from './message-frame.js';
import { announce, element, shown } from './view.js';

/**
 * @typedef {{
 *   id: string, sender: string, from: string, subject: string, preview_text: string, size: number,
 *   is_read: boolean, created_at: string, to?: string[], mail_from?: string,
 * }} Listing
 * @typedef {Listing & {
 *   address?: string, text_body: string | null, html_body: string | null,
 *   attachments: {
 *     index: number, filename: string, content_type: string, size: number,
 *     content_id: string | null,
 *   }[],
 * }} Message
 * @typedef {{
 *   list: (page: number) => Promise<Listing[]>,
 *   wait: (since: string | undefined, signal: AbortSignal) => Promise<Listing[]>,
 *   read: (id: string) => Promise<Message>,
 *   url: (id: string) => string,
 *   markRead?: (id: string) => Promise<unknown>,
 *   markAllRead?: () => Promise<unknown>,
 *   remove?: (id: string) => Promise<unknown>,
 *   clear?: () => Promise<unknown>,
 * }} Source where messages come from, and what can be done with them
 */

/** As the API has it. */
const PAGE_LENGTH = 30;
const RETRY_MILLISECONDS = 5000;
/** Images of one message that are loaded for its HTML. Requests have limits. */
const MAXIMUM_IMAGES = 15;
/** Of all images in the HTML of one message. */
const MAXIMUM_IMAGE_BYTES = 20_971_520;

/** @type {Source} */
let source;
let page = 1;
/** Ends the wait for new messages. */
let watch = new AbortController();
/** @type {Message | undefined} the one that is shown */
let open;
/** The HTML of it, for the frame. */
let html = { markup: '', hasRemote: false };

/**
 * Shows the newest messages, and new ones as they arrive, until `closeMail`.
 * @param {Source} from
 */
export async function openMail(from) {
  closeMail();
  source = from;
  page = 1;
  element('message-delete').hidden = !source.remove;
  const { signal } = watch = new AbortController();
  await showPage();
  if (!signal.aborted) watchFor(signal);
}

/** Nothing of the messages stays in the page. */
export function closeMail() {
  watch.abort();
  closeMessage();
  element('mail-list').replaceChildren();
  element('mail-count').textContent = '';
}

async function showPage() {
  const { signal } = watch;
  const messages = await source.list(page);
  if (signal.aborted) return;
  element('mail-list').replaceChildren(...messages.map(itemOf));
  showCount();
}

function showCount() {
  const count = element('mail-list').childElementCount;
  element('mail-all').hidden = !source.markAllRead || count === 0;
  element('mail-clear').hidden = !source.clear || count === 0;
  element('mail-newer').hidden = page === 1;
  element('mail-older').hidden = count < PAGE_LENGTH;
  element('mail-count').textContent = page > 1 ? `Page ${shown(page)}.`
    : count ? 'The newest messages. New ones appear by themselves.'
      : 'There is no message. New ones appear by themselves.';
}

/** @param {number} step */
async function turn(step) {
  page += step;
  try {
    await showPage();
  } catch (failure) {
    page -= step;
    throw failure;
  }
  element('mail-title').focus();
}

// New messages

/** @param {AbortSignal} signal */
async function watchFor(signal) {
  let since = newestID();
  while (!signal.aborted) {
    try {
      const found = await source.wait(since, signal);
      if (signal.aborted) return;
      if (found.length) {
        since = found[0].id;
        add(found);
      } else if (since === undefined && page === 1 && !open) {
        // One may have arrived before the wait began.
        await showPage();
        since = newestID();
      }
    } catch (failure) {
      if (signal.aborted) return;
      if (!(failure instanceof Failure)) throw failure;
      await pause(failure.wait === undefined ? RETRY_MILLISECONDS : failure.wait * 1000, signal);
    }
  }
}

/** @returns {string | undefined} */
function newestID() {
  return element('mail-list').firstElementChild?.dataset.id;
}

/**
 * @param {number} milliseconds
 * @param {AbortSignal} signal
 */
function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve(undefined);
    }, { once: true });
  });
}

/** @param {Listing[]} found newest first */
function add(found) {
  const list = element('mail-list');
  const known = new Set([...list.children].map((item) => item.dataset.id));
  const fresh = found.filter(({ id }) => !known.has(id));
  if (!fresh.length) return;
  if (page === 1) {
    // The others stay as they are, and so does the focus.
    list.prepend(...fresh.map(itemOf));
    while (list.childElementCount > PAGE_LENGTH) list.lastElementChild.remove();
    showCount();
  }
  const [{ sender, from, subject }] = fresh;
  announce(fresh.length > 1 ? `${fresh.length} new messages.`
    : `New message from ${sender || from || 'nobody'}: ${titleOf(subject)}`);
}

// The list

/** @param {Listing} message */
function itemOf(message) {
  const { id, sender, from, to, subject } = message;
  const author = sender || from || 'nobody';
  const item = copyOf('message-item', {
    people: to ? `${author} to ${to.join(', ')}` : author, date: dateOf(message.created_at),
    state: message.is_read ? '' : 'Unread', preview: message.preview_text,
  });
  item.dataset.id = id;
  const button = part(item, 'part', 'open');
  button.textContent = titleOf(subject);
  onClick(button, () => show(id));
  return item;
}

/** @param {string} subject */
function titleOf(subject) {
  return subject.trim() || '(no subject)';
}

/** @param {string} id */
function itemWith(id) {
  return [...element('mail-list').children].find((item) => item.dataset.id === id);
}

// One message

/** @param {string} id */
async function show(id) {
  const { signal } = watch;
  const message = await source.read(id);
  const forFrame = await cleaned(message.html_body ?? '', imagesOf(message));
  if (signal.aborted) return;
  open = message;
  html = forFrame;
  element('message-subject').textContent = titleOf(message.subject);
  const { sender, from } = message;
  element('message-from').textContent = sender && sender !== from ? `${sender} <${from}>` : from;
  element('message-to').textContent = message.to?.join(', ') ?? message.address ?? '';
  element('message-date').textContent = dateOf(message.created_at);
  element('message-source').href = `${source.url(id)}/source`;
  element('message-text').textContent = message.text_body ?? '';
  showAttachments(message);
  showBody(message.html_body !== null);
  element('mail-folder').hidden = true;
  element('message').hidden = false;
  element('message-subject').focus();
  if (!source.markRead || message.is_read) return;
  await source.markRead(id);
  const item = itemWith(id);
  if (item) part(item, 'field', 'state').textContent = '';
}

/**
 * @param {boolean} isHTML whether the HTML is shown, and not the text
 * @param {boolean} [isRemoteAllowed]
 */
function showBody(isHTML, isRemoteAllowed = false) {
  if (!open) return;
  const { html_body: original, text_body: text } = open;
  // Another document in the same frame would be a step of the browser's history.
  element('message-html').replaceChildren(
    ...(isHTML ? [frameOf(html.markup, isRemoteAllowed)] : []));
  element('message-text').hidden = isHTML;
  if (!isHTML && text === null) {
    element('message-text').textContent = 'This message has no text.';
  }
  element('message-remote').hidden = !isHTML || !html.hasRemote || isRemoteAllowed;
  const other = element('message-switch');
  other.hidden = original === null || text === null;
  other.textContent = isHTML ? 'Show the text' : 'Show the HTML';
}

/** @param {Message} message */
function showAttachments({ id, attachments }) {
  element('message-attachments').hidden = attachments.length === 0;
  element('attachment-list').replaceChildren(...attachments.map((each) => {
    const facts = `${each.content_type}, ${shown(each.size)} bytes`;
    const item = copyOf('attachment-item', { name: each.filename, facts });
    part(item, 'field', 'name').href = `${source.url(id)}/attachments/${each.index}`;
    return item;
  }));
}

/**
 * @param {Message} message
 * @returns {import('./message-frame.js').ImageSource}
 */
function imagesOf({ id, attachments }) {
  /** @type {Map<string, Promise<string | undefined>>} */
  const known = new Map();
  let bytes = 0;
  return async (contentID) => {
    const found = attachments.find((each) => each.content_id === contentID);
    if (!found || bytes + found.size > MAXIMUM_IMAGE_BYTES) return undefined;
    bytes += found.size;
    if (!known.has(contentID) && known.size < MAXIMUM_IMAGES) {
      known.set(contentID, imageAt(`${source.url(id)}/attachments/${found.index}`));
    }
    return known.get(contentID);
  };
}

/**
 * @param {string} path
 * @returns {Promise<string | undefined>} a `data:` URL; nothing where there is no image
 */
async function imageAt(path) {
  try {
    const file = await fileAt(path);
    return file.type.startsWith('image/') ? await dataURL(file) : undefined;
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    return undefined;
  }
}

/**
 * @param {Blob} file
 * @returns {Promise<string>}
 */
function dataURL(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(String(reader.result)));
    reader.addEventListener('error', () => reject(reader.error));
    reader.readAsDataURL(file);
  });
}

function closeMessage() {
  open = undefined;
  html = { markup: '', hasRemote: false };
  for (const id of ['subject', 'from', 'to', 'date', 'text']) {
    element(`message-${id}`).textContent = '';
  }
  element('message-html').replaceChildren();
  element('attachment-list').replaceChildren();
  element('message').hidden = true;
  element('mail-folder').hidden = false;
}

/** The focus goes back to where the message was opened. */
function backToList() {
  const id = open?.id;
  closeMessage();
  const item = id === undefined ? undefined : itemWith(id);
  (item?.querySelector('button') ?? element('mail-title')).focus();
}

async function removeOpen() {
  if (!open) return;
  const { id, subject } = open;
  if (!await confirmed(
    'Delete this message?', `“${titleOf(subject)}” is deleted for good.`, 'Delete message')) return;
  await source.remove?.(id);
  closeMessage();
  await showPage();
  announce('The message was deleted.');
  element('mail-title').focus();
}

async function clear() {
  if (!await confirmed(
    'Delete all messages of this list?', 'The mailboxes of accounts keep theirs.',
    'Delete all')) return;
  await source.clear?.();
  page = 1;
  await showPage();
  announce('All messages were deleted.');
  element('mail-title').focus();
}

async function markAllRead() {
  await source.markAllRead?.();
  await showPage();
  announce('All messages are marked as read.');
}

/** Makes the buttons work; called once. */
export function enableMail() {
  onClick(element('mail-newer'), () => turn(-1));
  onClick(element('mail-older'), () => turn(1));
  onClick(element('mail-all'), markAllRead);
  onClick(element('mail-clear'), clear);
  onClick(element('message-close'), backToList);
  onClick(element('message-delete'), removeOpen);
  onClick(element('message-switch'), () => {
    showBody(element('message-html').childElementCount === 0);
  });
  onClick(element('message-remote'), () => {
    showBody(true, true);
    announce('The images of this message are loaded from other servers.');
    element('message-subject').focus();
  });
}
