import { askPlatform, unavailable } from "#src/authorization/call.ts";
import type { Refused, Unavailable } from "#src/authorization/connector.ts";
import { mayCallForeign } from "#src/http/foreign-hosts.ts";
import { describeStatus, type JsonObject, list, text } from "#src/http/platform-answer.ts";
import type { PlatformRequest } from "#src/http/platform-request.ts";

/**
 * Bluesky's own repository hosts, on which accounts of `bsky.social` are stored, such as
 * `morel.us-east.host.bsky.network` (docs.bsky.app/docs/advanced-guides/entryway, read 2026-11-23).
 * Bluesky's relay trusts its own hosts by the same suffix (github.com/bluesky-social/indigo, the
 * default of `trusted-domains` in cmd/relay/main.go).
 */
const BLUESKY_HOSTS = ".host.bsky.network";

export function isBlueskysHost(url: string): boolean {
  return URL.parse(url)?.hostname.endsWith(BLUESKY_HOSTS) ?? false;
}

export interface BlueskyDirectory {
  readonly baseUrl: string;
  readonly plcUrl: string;
}

export interface OwnRepository {
  readonly kind: "repository";
  readonly did: string;
  readonly pdsUrl: string;
}

/** The directory knows a deleted account as gone; `resolveHandle` answers 400. */
const NOT_FOUND = new Set([400, 404, 410]);
const WEB_DID = /^did:web:([a-z0-9.-]+)$/;

/**
 * Finds the server of an account that is neither on the configured server nor on one of Bluesky's
 * own: handle → DID → DID document → PDS, as every client of the AT Protocol does. Returns
 * undefined for an account of the configured server. The password of an account is for its own
 * server only, so an account whose server is not known, or may not be called, is refused.
 */
export async function findOwnRepository(
  directory: BlueskyDirectory,
  identifier: string,
  signal: AbortSignal,
): Promise<OwnRepository | Refused | Unavailable | undefined> {
  const found = await findDid(directory, identifier, signal);
  if (found.kind === "unavailable") return found;
  const did = found.value;
  if (did === undefined) return refuseUnlessOn(directory, identifier);
  const document = await lookUp(toDocumentRequest(directory, did), signal);
  if (document.kind === "unavailable") return document;
  if (document.value === undefined) return await refuseUnlessHosted(directory, did, signal);
  const pdsUrl = text(document.value, "id") === did ? pdsUrlOf(document.value) : undefined;
  if (pdsUrl === undefined) return UNKNOWN_SERVER;
  if (isConfigured(pdsUrl, directory) || isBlueskysHost(pdsUrl)) return undefined;
  return mayCallForeign(new URL(pdsUrl))
    ? { kind: "repository", did, pdsUrl }
    : refuse("the server of the account has no HTTPS");
}

function refuse(message: string): Refused {
  return { kind: "refused", message };
}

const UNKNOWN_SERVER = refuse("no directory names the server of the account");
const UNKNOWN_HANDLE = refuse(
  "Bluesky finds no account with this handle: give the full handle, such as alice.bsky.social; for a handle on your own domain, check its DNS record or give the DID of the account",
);

/** Only accounts of the configured server have handles on its domain. Its login says more. */
function refuseUnlessOn({ baseUrl }: BlueskyDirectory, handle: string): Refused | undefined {
  const isOn = handle.toLowerCase().endsWith(`.${new URL(baseUrl).hostname}`);
  return isOn ? undefined : UNKNOWN_HANDLE;
}

/** An own server as the configured one has its accounts in a directory that it does not name. */
async function refuseUnlessHosted(
  { baseUrl }: BlueskyDirectory,
  did: string,
  signal: AbortSignal,
): Promise<Refused | Unavailable | undefined> {
  const query = new URLSearchParams({ did });
  const url = `${baseUrl}/xrpc/com.atproto.sync.getRepoStatus?${query.toString()}`;
  const found = await lookUp({ method: "GET", url }, signal);
  if (found.kind === "unavailable") return found;
  return text(found.value, "did") === did ? undefined : UNKNOWN_SERVER;
}

/** The value is undefined if the directory says that there is none. */
type Found<T> = { readonly kind: "found"; readonly value: T | undefined } | Unavailable;

async function lookUp(request: PlatformRequest, signal: AbortSignal): Promise<Found<JsonObject>> {
  const answer = await askPlatform(request, signal);
  if (answer.kind !== "answer") return answer;
  if (answer.status === 200) return { kind: "found", value: answer.json };
  return NOT_FOUND.has(answer.status)
    ? { kind: "found", value: undefined }
    : unavailable(describeStatus(answer));
}

async function findDid(
  { baseUrl }: BlueskyDirectory,
  identifier: string,
  signal: AbortSignal,
): Promise<Found<string>> {
  if (identifier.startsWith("did:")) return { kind: "found", value: identifier };
  const query = new URLSearchParams({ handle: identifier });
  const url = `${baseUrl}/xrpc/com.atproto.identity.resolveHandle?${query.toString()}`;
  const found = await lookUp({ method: "GET", url }, signal);
  return found.kind === "found" ? { kind: "found", value: text(found.value, "did") } : found;
}

function toDocumentRequest({ plcUrl }: BlueskyDirectory, did: string): PlatformRequest {
  const [, domain] = WEB_DID.exec(did) ?? [];
  return domain === undefined
    ? { method: "GET", url: `${plcUrl}/${did}` }
    : { method: "GET", url: `https://${domain}/.well-known/did.json`, isForeign: true };
}

/**
 * The look-behind makes the time of the match linear: any server can write the address with a
 * million slashes.
 */
const TRAILING_SLASHES = /(?<!\/)\/+$/;

function pdsUrlOf(document: unknown): string | undefined {
  const services = list(document, "service");
  const pds = services.find((service) => text(service, "type") === "AtprotoPersonalDataServer");
  const endpoint = text(pds, "serviceEndpoint")?.replace(TRAILING_SLASHES, "");
  return URL.parse(endpoint ?? "") === null ? undefined : endpoint;
}

function isConfigured(pdsUrl: string, { baseUrl }: Pick<BlueskyDirectory, "baseUrl">): boolean {
  return pdsUrl === baseUrl.replace(TRAILING_SLASHES, "");
}

/**
 * Returns the server in an account's DID document, unless it is the configured server. The
 * configured server is not stored with the account, so that a new configuration also applies to
 * existing accounts.
 */
export function ownPdsUrlOf(document: unknown, baseUrl: string): string | undefined {
  const pdsUrl = pdsUrlOf(document);
  if (pdsUrl === undefined || isConfigured(pdsUrl, { baseUrl })) return undefined;
  return mayCallForeign(new URL(pdsUrl)) ? pdsUrl : undefined;
}
