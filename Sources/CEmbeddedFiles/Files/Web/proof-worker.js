// @ts-check
// Tries nonces until SHA-256 of the salt and the nonce begins with enough zero bits. Web Crypto
// computes each hash apart from this thread, so many are asked for at once.

const AT_ONCE = 256;
const REPORT_MILLISECONDS = 200;

onmessage = async ({ data: { salt, difficulty, prefix } }) => {
  const encoder = new TextEncoder();
  let reported = performance.now();
  let unreported = 0;
  for (let first = 0; ; first += AT_ONCE) {
    const nonces = Array.from({ length: AT_ONCE }, (_, index) => prefix + (first + index));
    const digests = await Promise.all(
      nonces.map((nonce) => crypto.subtle.digest('SHA-256', encoder.encode(salt + nonce))));
    const found = digests.findIndex((digest) => leadingZeroBits(digest) >= difficulty);
    unreported += AT_ONCE;
    const now = performance.now();
    if (found >= 0 || now - reported >= REPORT_MILLISECONDS) {
      postMessage({ tries: unreported, nonce: nonces[found] });
      unreported = 0;
      reported = now;
    }
    if (found >= 0) return;
  }
};

/** @param {ArrayBuffer} digest */
function leadingZeroBits(digest) {
  const words = new DataView(digest);
  for (let offset = 0; offset < digest.byteLength; offset += 4) {
    const word = words.getUint32(offset);
    if (word !== 0) return offset * 8 + Math.clz32(word);
  }
  return digest.byteLength * 8;
}
