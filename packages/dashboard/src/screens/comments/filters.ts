import type { InboxStateJson } from "@postrider/rest/dashboard/inbox";
import type { InboxFilter } from "./comments-api.ts";

export const TABS = ["open", "answered", "done", "all"] as const;
export type Tab = (typeof TABS)[number];

/** What the screen shows. It lies in the address, so that a reload and "back" keep it. */
export interface View {
  readonly tab: Tab;
  readonly accountId: string | undefined;
  /** Our id of the comment whose conversation is open. */
  readonly comment: string | undefined;
}

export function parseView(parameters: URLSearchParams): View {
  const tab = TABS.find((known) => known === parameters.get("tab")) ?? "open";
  const get = (name: string) => parameters.get(name) ?? undefined;
  return { tab, accountId: get("account"), comment: get("comment") };
}

/** The parameters of a view; what is not set is left out. */
export function toParameters({ tab, accountId, comment }: View): Record<string, string> {
  return {
    ...(tab === "open" ? {} : { tab }),
    ...(accountId === undefined ? {} : { account: accountId }),
    ...(comment === undefined ? {} : { comment }),
  };
}

export function toFilter({ tab, accountId }: View): InboxFilter {
  const state: InboxStateJson | undefined = tab === "all" ? undefined : tab;
  return { state, accountId };
}
