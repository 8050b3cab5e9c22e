import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useState } from "react";
import { useSearchParams } from "wouter";
import { showToast } from "../kit/toast.tsx";
import { useWords } from "../words/use-words.ts";
import { postWords } from "./post-words.ts";
import { postsApi } from "./posts-api.ts";

const RECONNECT = "account_reconnect_required";

/**
 * The end of "Reconnect, then retry": the platform has led back here, with the account in the
 * query. The query is removed first, so that a reload does not retry again. Returns why no account
 * was connected.
 */
export function useReturnedAccount(): string | undefined {
  const words = useWords(postWords);
  const client = useQueryClient();
  const [parameters, setParameters] = useSearchParams();
  const [failure, setFailure] = useState<string>();
  const connected = parameters.get("connected");
  const failed = parameters.get("connectFailed");
  const settle = useEffectEvent(async () => {
    const isRetry = parameters.has("retry");
    setParameters({}, { replace: true });
    if (connected === null) return setFailure(failed ?? undefined);
    const retried = isRetry ? (await postsApi.retryAccount(connected, RECONNECT)).retried : 0;
    showToast(retried === 0 ? words.connected : `${words.connected} ${words.retried(retried)}`);
    return await client.invalidateQueries();
  });
  useEffect(() => {
    if (connected !== null || failed !== null) queueMicrotask(() => void settle());
  }, [connected, failed]);
  return failure;
}
