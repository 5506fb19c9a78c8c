// @ts-check
// The HTML of a message, in a frame without scripts, forms, origin and, at first, remote content.
//
// Its sandbox and its policy keep the browser from running or loading anything. What neither of
// them covers is removed before: links and frames that resolve a name or open a connection early,
// and what decides where links lead.

import { element } from './view.js';

/**
 * Documents within the document, and what a browser may do by itself. Vector graphics and formulas
 * have their own rules of parsing: what is removed by those of HTML may return by them.
 */
const REMOVED = [
  'script', 'noscript', 'iframe', 'frame', 'frameset', 'object', 'embed', 'applet', 'portal',
  'base', 'meta', 'link', 'template', 'svg', 'math', 'noembed', 'noframes', 'xmp', 'plaintext',
  'audio', 'video', 'dialog',
].join(',');

/** What the names of a form's fields hide in the form itself: `<input name="removeAttribute">`. */
const { getAttributeNames, getAttribute, removeAttribute } = Element.prototype;

/** Where links may lead. */
const LINKED = new Set(['http:', 'https:', 'mailto:']);

const REMOTE = /https:/i;

/** Attributes that run something, lead elsewhere, or send a request of their own. */
const DROPPED = new Set([
  'target', 'ping', 'srcdoc', 'action', 'formaction', 'attributionsrc', 'autofocus',
]);

/**
 * @param {string} markup of `cleaned`
 * @param {boolean} isRemoteAllowed whether images are loaded, by https
 * @returns {HTMLElement} the frame
 */
export function frameOf(markup, isRemoteAllowed) {
  const frame = element('message-frame').content.firstElementChild.cloneNode(true);
  frame.srcdoc = beginning(isRemoteAllowed) + markup;
  return frame;
}

/**
 * The policy is read before the message is. A message can only add to it.
 * @param {boolean} isRemoteAllowed
 */
function beginning(isRemoteAllowed) {
  const images = isRemoteAllowed ? 'data: https:' : 'data:';
  const policy = `default-src 'none'; img-src ${images}; style-src 'unsafe-inline'; `
    + "base-uri 'none'; form-action 'none'";
  return '<!DOCTYPE html><html><head><meta charset="utf-8">'
    + `<meta http-equiv="Content-Security-Policy" content="${policy}">`
    + '<meta http-equiv="x-dns-prefetch-control" content="off">'
    + '<meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light">'
    + '<base target="_blank"><title>The message</title><style>'
    + 'html { background: #fff; color: #000; font: 1rem/1.5 system-ui, sans-serif; '
    + 'overflow-wrap: anywhere } img { max-width: 100%; height: auto }</style>';
}

/**
 * @typedef {(contentID: string) => Promise<string | undefined>} ImageSource gives the `data:` URL
 *   of an image that the message brings along
 */

/**
 * @param {string} html as the sender wrote it
 * @param {ImageSource} imageWith
 * @returns {Promise<{markup: string, hasRemote: boolean}>} for `frameOf`, and whether it may name
 *   what is loaded from other servers
 */
export async function cleaned(html, imageWith) {
  // Nothing in such a document runs or loads. Its properties may be hidden by names of elements.
  const parsed = new DOMParser().parseFromString(html, 'text/html');
  const root = document.createTreeWalker(parsed, NodeFilter.SHOW_ELEMENT).nextNode();
  if (!(root instanceof Element)) return { markup: '', hasRemote: false };
  for (const each of root.querySelectorAll(REMOVED)) each.remove();
  let hasRemote = [...root.querySelectorAll('style')].some((each) => REMOTE.test(each.textContent));
  for (const each of root.querySelectorAll('*')) {
    for (const name of getAttributeNames.call(each)) {
      if (name.startsWith('on') || DROPPED.has(name)) removeAttribute.call(each, name);
      else if (name !== 'href') hasRemote ||= REMOTE.test(getAttribute.call(each, name) ?? '');
    }
  }
  for (const link of root.querySelectorAll('[href]:not(form)')) direct(link);
  for (const image of root.querySelectorAll('img[src^="cid:" i]')) await insert(image, imageWith);
  return { markup: root.getHTML(), hasRemote };
}

/**
 * Shows an image that the message brings along, or says that there is none.
 * @param {Element} image
 * @param {ImageSource} imageWith
 */
async function insert(image, imageWith) {
  const url = await imageWith(contentIDOf(image.getAttribute('src') ?? ''));
  if (url !== undefined) {
    image.setAttribute('src', url);
    return;
  }
  const name = image.getAttribute('alt')?.trim();
  image.replaceWith(name ? `[Image: ${name}]` : '[An image that is not in the message]');
}

/**
 * @param {string} url RFC 2392
 * @returns {string}
 */
function contentIDOf(url) {
  const coded = url.slice('cid:'.length).trim();
  try {
    return decodeURIComponent(coded);
  } catch {
    return coded;
  }
}

/**
 * A link opens in a new tab, which knows nothing of this page. A relative one would lead into this
 * server.
 * @param {Element} link
 */
function direct(link) {
  const target = link.getAttribute('href') ?? '';
  if (!URL.canParse(target) || !LINKED.has(new URL(target).protocol)) {
    link.removeAttribute('href');
    return;
  }
  link.setAttribute('target', '_blank');
  link.setAttribute('rel', 'noopener noreferrer');
}
