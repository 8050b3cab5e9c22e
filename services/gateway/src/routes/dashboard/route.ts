import type { TSchema } from "typebox";
import { defined } from "#src/http/defined.ts";
import type { Scope } from "#src/routes/dependencies.ts";
import { HIDDEN, NoQuery } from "#src/routes/schemas.ts";

interface DashboardRoute {
  /** The scope that the session needs; undefined when any session may use the route. */
  readonly scope?: Scope;
  readonly params?: TSchema;
  /** Default: no query. */
  readonly querystring?: TSchema;
  readonly body?: TSchema;
  /** Maximum size, in bytes, of an answer that can be large. */
  readonly answerBytes?: number;
  /** Schemas of the answers by status. They also serialise the answers. */
  readonly response?: Readonly<Record<number, TSchema>>;
}

/**
 * Returns the options of a route of the dashboard. It needs a session, whose workspace and scopes
 * `callerOf` returns as those of an API key, and the API description does not contain it.
 */
export function dashboardRoute({ scope, answerBytes, ...schema }: DashboardRoute) {
  return {
    config: { needsSession: true, ...defined({ scope, answerBytes }) },
    schema: { ...HIDDEN, querystring: NoQuery, ...schema },
  };
}
