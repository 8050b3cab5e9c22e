import type { Violation } from "@postrider/shared/errors";
import { textTypeOf } from "#src/domain/real-content-type.ts";

export interface Answered {
  readonly url: string;
  readonly contentType: string;
  readonly start: Uint8Array;
  readonly isKnown: boolean;
}

/** Shares whose usual links lead to a page, and which link leads to the file. */
const SHARES: readonly (readonly [RegExp, string])[] = [
  [
    /(?:^|\.)(?:drive|docs)\.google\.com$|^drive\.usercontent\.google\.com$/,
    "https://drive.usercontent.google.com/download?id=FILE_ID&export=download&confirm=t with the id from the link, and share the file with anyone who has the link",
  ],
  [/(?:^|\.)dropbox\.com$/, "the link of the share with dl=1 instead of dl=0 at its end"],
  [
    /(?:^|\.)(?:1drv\.ms|onedrive\.live\.com|sharepoint\.com)$/,
    "the link of the share with the further parameter download=1, and share the file with anyone who has the link",
  ],
];

const MAX_FOUND = 100;
/** Types that say nothing about an answer. */
const UNTELLING =
  /^$|^(?:image|video|audio|binary)\/|^application\/(?:octet-stream|binary|x-download|force-download)$/;

/**
 * Explains an answer that is a web page, JSON, or of a type that only the server knows; undefined
 * for anything else.
 */
export function describeNotMedia({
  url,
  contentType,
  start,
  isKnown,
}: Answered): Violation | undefined {
  const said = (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
  const real = textTypeOf(start);
  const common = { code: "download_not_media", path: "/url", ...expectedOf(url) };
  if (real === "text/html" || said === "text/html" || said === "application/xhtml+xml")
    return { ...common, reason: "a web page", found: said.endsWith("html") ? said : "text/html" };
  const isJson = real === "application/json" || /^[^;]*[/+]json$/.test(said);
  if (isJson) return { ...common, reason: "JSON", found: "application/json" };
  return isKnown || UNTELLING.test(said)
    ? undefined
    : { ...common, found: said.slice(0, MAX_FOUND) };
}

function expectedOf(url: string): { readonly expected?: string } {
  const host = URL.parse(url)?.hostname ?? "";
  const expected = SHARES.find(([pattern]) => pattern.test(host))?.[1];
  return expected === undefined ? {} : { expected };
}

/** The DNS does not know the name, or has no address for it. */
const NO_ADDRESS = new Set(["ENOTFOUND", "ENODATA", "EAI_NODATA", "EAI_NONAME", "ESERVFAIL"]);
const REASONS: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "the server refuses connections on this port"],
  ["ENETUNREACH", "no network leads to the server"],
  ["EHOSTUNREACH", "no network leads to the server"],
  ["CERT_HAS_EXPIRED", "the certificate of the server has expired"],
  ["CERT_NOT_YET_VALID", "the certificate of the server is not valid yet"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "the certificate of the server is for another name"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "the certificate of the server is self-signed"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "the certificate of the server is self-signed"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "the certificate of the server has no known issuer"],
  ["UNABLE_TO_GET_ISSUER_CERT", "the certificate of the server has no known issuer"],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "the certificate of the server has no known issuer"],
]);
const MAX_DEPTH = 5;

export function hasNoAddress(error: unknown): boolean {
  return failuresOf(error).some(({ code, isLookup }) => isLookup && NO_ADDRESS.has(code));
}

/**
 * Says why no connection was made, for customers. A name without an address and one with a private
 * address are not told apart, because that would tell which internal names exist.
 */
export function connectionReason(error: unknown): string | undefined {
  const failures = failuresOf(error);
  // A name server that does not answer says nothing about the host.
  if (failures.some(({ isLookup }) => isLookup)) return undefined;
  const codes = failures.map(({ code }) => code);
  const known = codes.map((code) => REASONS.get(code)).find((reason) => reason !== undefined);
  if (known !== undefined) return known;
  if (codes.some((code) => code.startsWith("ERR_SSL_") || code === "EPROTO"))
    return "the server does not speak TLS 1.2 or newer on this port";
  return codes.some((code) => code.includes("CERT"))
    ? "the certificate of the server is not valid"
    : undefined;
}

interface Failure {
  readonly code: string;
  readonly isLookup: boolean;
}

function failuresOf(error: unknown, depth = 0): readonly Failure[] {
  if (typeof error !== "object" || error === null || depth > MAX_DEPTH) return [];
  const { code, syscall, cause, errors } = error as Readonly<Record<string, unknown>>;
  const inner = [cause, ...(Array.isArray(errors) ? (errors as unknown[]) : [])];
  const isLookup = typeof syscall === "string" && syscall.startsWith("query");
  return [
    ...(typeof code === "string" ? [{ code, isLookup }] : []),
    ...inner.flatMap((one) => failuresOf(one, depth + 1)),
  ];
}
