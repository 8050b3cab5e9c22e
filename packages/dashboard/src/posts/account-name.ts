import type { Account } from "@postrider/client";
import { PLATFORMS } from "../kit/platform-tile.tsx";

/** A Page, a channel or a chat is known by its title, and often has a number for a username. */
const TITLED: ReadonlySet<string> = new Set(["facebook", "telegram", "youtube"]);

/** What people call an account: its title there, elsewhere its handle. */
export function accountNameOf(
  account: Pick<Account, "platform" | "username" | "displayName">,
): string {
  const { platform, username, displayName } = account;
  return TITLED.has(platform) ? displayName || username : username || displayName;
}

/** For a list of accounts, in which two of one name differ by their platform. */
export function accountLabelOf(account: Account): string {
  return `${accountNameOf(account)} · ${PLATFORMS[account.platform].name}`;
}
