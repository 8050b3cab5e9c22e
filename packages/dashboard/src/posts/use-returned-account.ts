import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent } from "react";
import { useSearchParams } from "wouter";
import { takeReconnect } from "../accounts/begun-reconnect.ts";
import { showToast } from "../kit/toast.tsx";
import { useWords } from "../words/use-words.ts";
import { postWords } from "./post-words.ts";
import { retryReconnected } from "./retry-reconnected.ts";

/**
 * The end of "Reconnect, then retry": the platform has led back here, with the accounts in the
 * query. The query is removed first, so that a reload does not retry again. Only that is retried
 * which was noted in this tab (see begun-reconnect.ts).
 */
export function useReturnedAccount(): void {
  const words = useWords(postWords);
  const client = useQueryClient();
  const [parameters, setParameters] = useSearchParams();
  const connected = parameters.get("connected");
  const settle = useEffectEvent(async (accountIds: readonly string[]) => {
    setParameters({}, { replace: true });
    const retried = await retryReconnected(takeReconnect(sessionStorage, accountIds));
    showToast(retried === 0 ? words.connected : `${words.connected} ${words.retried(retried)}`);
    await client.invalidateQueries();
  });
  useEffect(() => {
    if (connected !== null) queueMicrotask(() => void settle(connected.split(",")));
  }, [connected]);
}
