// @ts-check
// The HTML of a message, in a frame without scripts, forms, origin and, at first, remote content.
//
// Its sandbox and its policy keep the browser from running or loading anything. What neither of
// them covers is removed before: links that resolve a name or open a connection early, and what
// decides where links lead.

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

/** Where links may lead. */
const LINKED = new Set(['http:', 'https:', 'mailto:']);

/** Attributes that run something, lead elsewhere, or send a request of their own. */
const DROPPED = new Set([
  'target', 'ping', 'srcdoc', 'action', 'formaction', 'attributionsrc', 'autofocus',
]);

/**
 * @param {string} html as the sender wrote it
 * @param {boolean} isRemoteAllowed whether images are loaded, by https
 * @returns {HTMLElement} the frame
 */
export function frameOf(html, isRemoteAllowed) {
  const frame = element('message-frame').content.firstElementChild.cloneNode(true);
  frame.srcdoc = beginning(isRemoteAllowed) + cleaned(html);
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
 * @param {string} html
 * @returns {string}
 */
function cleaned(html) {
  // Nothing in such a document runs or loads.
  const parsed = new DOMParser().parseFromString(html, 'text/html');
  for (const each of parsed.querySelectorAll(REMOVED)) each.remove();
  for (const each of parsed.querySelectorAll('*')) {
    for (const name of each.getAttributeNames()) {
      if (name.startsWith('on') || DROPPED.has(name)) each.removeAttribute(name);
    }
    if (each.hasAttribute('href')) direct(each);
  }
  return parsed.documentElement.getHTML();
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
