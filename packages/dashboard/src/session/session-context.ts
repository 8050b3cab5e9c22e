import { createContext, useContext } from "react";
import type { Session } from "./session-api.ts";

export const SessionContext = createContext<Session | undefined>(undefined);

/** The session; only screens inside the frame may ask, which is shown to a session only. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error("there is no session around this component");
  return session;
}

/** Whether the session may do something: `useCan()("posts:write")`. */
export function useCan(): (scope: string) => boolean {
  const { scopes } = useSession();
  return (scope) => scopes.includes(scope);
}
