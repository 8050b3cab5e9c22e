import { issueLongToken } from "#src/instagram/instagram-login.ts";
import type { InstagramNetwork } from "#src/instagram/network.ts";
import type { IssuedAccount } from "#src/platform.ts";
import type { Account } from "#src/world/accounts.ts";
import { inventName } from "#src/world/names.ts";

export const SCOPES: readonly string[] = [
  "business_management",
  "instagram_basic",
  "instagram_content_publish",
  "instagram_manage_contents",
  "instagram_manage_comments",
  "instagram_manage_insights",
  "instagram_manage_messages",
  "pages_show_list",
  "pages_read_engagement",
  "pages_messaging",
];

function ensureAccount({ world, ownerships }: InstagramNetwork, username: string | undefined) {
  const { accounts, clock, snowflakes } = world;
  const now = clock.now();
  const invented = inventName(
    ({ words, number }) =>
      accounts.byUsername("instagram", `${words.join("_")}${number}`) !== undefined,
  );
  const name = username ?? `${invented.words.join("_")}${invented.number}`;
  const present = accounts.byUsername("instagram", name);
  if (present !== undefined) return present;

  const externalId = snowflakes.next(now);
  const displayName = invented.displayName;
  ownerships.put(externalId, {
    pageId: snowflakes.next(now),
    pageName: displayName,
    userId: snowflakes.next(now),
  });
  return accounts.add({ platform: "instagram", externalId, username: name, displayName });
}

/** Each of the two tokens gets those of the permissions that exist in its login. */
export function issueAccount(
  network: InstagramNetwork,
  username: string | undefined,
  permissions?: readonly string[],
): IssuedAccount {
  const account = ensureAccount(network, username);
  const { externalId } = account;
  const accessToken = network.tokens.issue({
    kind: "page",
    account: externalId,
    user: network.ownerships.get(externalId)?.userId ?? "",
    scopes: SCOPES.filter((scope) => permissions?.includes(scope) ?? true),
    issuedAt: network.world.clock.now(),
    expiresAt: null,
  });
  const own = issueLongToken(network, account, permissions);
  return {
    account,
    credentials: {
      accessToken,
      instagramAccessToken: own.accessToken,
      expiresInSeconds: own.expiresInSeconds,
    },
  };
}

export function toPageView(
  { ownerships }: InstagramNetwork,
  { externalId, username }: Account,
  accessToken: string,
): Readonly<Record<string, unknown>> {
  const ownership = ownerships.get(externalId);
  return {
    id: ownership?.pageId ?? "",
    name: ownership?.pageName ?? "",
    access_token: accessToken,
    tasks: ["CREATE_CONTENT", "MODERATE", "MESSAGING", "ANALYZE"],
    instagram_business_account: { id: externalId, username },
  };
}
