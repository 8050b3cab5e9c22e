import { askPlatform } from "#src/authorization/call.ts";
import { mayCallForeign } from "#src/http/foreign-hosts.ts";
import { type JsonObject, list, text } from "#src/http/platform-answer.ts";

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
  readonly did: string;
  readonly pdsUrl: string;
}

const WEB_DID = /^did:web:([a-z0-9.-]+)$/;

/**
 * Finds the server of an account that is neither on the configured server nor on one of Bluesky's
 * own: handle → DID → DID document → PDS, as every client of the AT Protocol does. Returns
 * undefined for every other account, and when no server was found; the caller then uses the
 * configured server.
 */
export async function findOwnRepository(
  directory: BlueskyDirectory,
  identifier: string,
  signal: AbortSignal,
): Promise<OwnRepository | undefined> {
  const did = await findDid(directory, identifier, signal);
  const document = did === undefined ? undefined : await readDidDocument(directory, did, signal);
  if (did === undefined || text(document, "id") !== did) return undefined;
  const pdsUrl = ownPdsUrlOf(document, directory.baseUrl);
  return pdsUrl === undefined || isBlueskysHost(pdsUrl) ? undefined : { did, pdsUrl };
}

async function findDid(
  { baseUrl }: BlueskyDirectory,
  identifier: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (identifier.startsWith("did:")) return identifier;
  const query = new URLSearchParams({ handle: identifier });
  const url = `${baseUrl}/xrpc/com.atproto.identity.resolveHandle?${query.toString()}`;
  const answer = await askPlatform({ method: "GET", url }, signal);
  return answer.kind === "answer" && answer.status === 200 ? text(answer.json, "did") : undefined;
}

async function readDidDocument(
  { plcUrl }: BlueskyDirectory,
  did: string,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  const [, domain] = WEB_DID.exec(did) ?? [];
  const call =
    domain === undefined
      ? ({ method: "GET", url: `${plcUrl}/${did}` } as const)
      : ({
          method: "GET",
          url: `https://${domain}/.well-known/did.json`,
          isForeign: true,
        } as const);
  const answer = await askPlatform(call, signal);
  return answer.kind === "answer" && answer.status === 200 ? answer.json : undefined;
}

/**
 * The look-behind makes the time of the match linear: any server can write the address with a
 * million slashes.
 */
const TRAILING_SLASHES = /(?<!\/)\/+$/;

/**
 * Returns the server in an account's DID document, unless it is the configured server. The
 * configured server is not stored with the account, so that a new configuration also applies to
 * existing accounts.
 */
export function ownPdsUrlOf(document: unknown, baseUrl: string): string | undefined {
  const services = list(document, "service");
  const pds = services.find((service) => text(service, "type") === "AtprotoPersonalDataServer");
  const endpoint = text(pds, "serviceEndpoint")?.replace(TRAILING_SLASHES, "");
  const url = endpoint === undefined ? null : URL.parse(endpoint);
  if (endpoint === undefined || url === null) return undefined;
  if (endpoint === baseUrl.replace(TRAILING_SLASHES, "")) return undefined;
  return mayCallForeign(url) ? endpoint : undefined;
}
