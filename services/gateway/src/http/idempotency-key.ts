const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * Whether the header `Idempotency-Key` can be used: 1 to 255 visible ASCII characters, taken literally (quotes belong to
 * the key). A header sent twice arrives joined by a comma and a space and is refused for the space.
 */
export function isIdempotencyKey(header: string): boolean {
  return KEY.test(header);
}
