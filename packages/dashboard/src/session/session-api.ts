import type { CurrentSession, LoginRequest } from "@postrider/rest/dashboard/session-schemas";
import { appApi } from "../api/app-api.ts";
import { shownWorkspace } from "../api/shown-workspace.ts";

/** The session of this browser. */
export type Session = CurrentSession;

export const sessionApi = {
  get: async (): Promise<Session> => {
    const session = await appApi<Session>("GET", "/session");
    shownWorkspace.set(session.workspace.id);
    return session;
  },
  /** By the token of a login link, or by an API key, which is exchanged and not kept. */
  open: (by: LoginRequest) => appApi<Session>("POST", "/session", { body: by }),
  end: () => appApi<undefined>("DELETE", "/session"),
};
