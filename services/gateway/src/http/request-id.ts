import { newId } from "@postrider/shared/ids";

const VISIBLE = /^[\x21-\x7e]{1,128}$/;

/** The client's own request id when it is 1 to 128 visible ASCII characters, else a new UUIDv7. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === "string" && VISIBLE.test(header) ? header : newId();
}
