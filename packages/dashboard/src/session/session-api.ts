import { appApi } from "../api/app-api.ts";

/** The session of this browser, as `/app/api/session` answers. */
export interface Session {
  readonly id: string;
  readonly workspace: { readonly id: string; readonly name: string; readonly verified: boolean };
  readonly scopes: readonly string[];
  readonly key: { readonly id: string; readonly name: string; readonly prefix: string } | null;
  readonly createdAt: string;
  readonly expiresAt: string;
  /** Where uploads go besides this origin. */
  readonly uploadOrigins: readonly string[];
  readonly version: string;
}

export const sessionApi = {
  get: () => appApi<Session>("GET", "/session"),
  /** By the token of a login link, or by an API key, which is exchanged and not kept. */
  open: (by: { readonly token: string } | { readonly apiKey: string }) =>
    appApi<Session>("POST", "/session", { body: by }),
  end: () => appApi<undefined>("DELETE", "/session"),
};
