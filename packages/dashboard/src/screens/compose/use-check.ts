import { PostriderError, type ValidatePost } from "@postrider/client";
import { useEffect, useState } from "react";
import { api } from "../../api/api.ts";
import { useSettings } from "../../settings/settings.ts";
import { type Draft, isWritten, toContent } from "./draft.ts";
import { type Fault, NO_ACCOUNTS, toFault } from "./faults.ts";
import { scheduledAtOf } from "./when.ts";

/** A check costs a request of the workspace: it waits until the writer rests. */
const REST_MS = 600;

interface Checked {
  /** The request that was checked. */
  readonly text: string;
  readonly faults: readonly Fault[];
  /** Whether the server could not say. */
  readonly failed: boolean;
}

export interface Check {
  readonly faults: readonly Fault[];
  /** Whether the faults are those of what is written now. */
  readonly isCurrent: boolean;
  readonly failed: boolean;
  /** Takes the faults of a refused request for those of the draft that was sent. */
  readonly take: (draft: Draft, error: PostriderError) => void;
}

function toRequest(draft: Draft): ValidatePost {
  const scheduledAt = scheduledAtOf(draft.when);
  return { ...toContent(draft), ...(scheduledAt === undefined ? {} : { scheduledAt }) };
}

function faultsIn({ details }: PostriderError): readonly Fault[] {
  return details.map(toFault);
}

/**
 * What the server's own rules say of the draft. Of several checks only the last one counts: the one
 * before it is ended, so that one request at most is under way.
 */
export function useCheck(draft: Draft): Check {
  const { language } = useSettings();
  const [checked, setChecked] = useState<Checked>({ text: "", faults: [], failed: false });
  const request = toRequest(draft);
  const text = JSON.stringify(request);
  const isWorth = request.accountIds.length > 0 && isWritten(draft);
  useEffect(() => {
    if (!isWorth) return undefined;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      void check(text, language, abort.signal).then((result) => {
        if (!abort.signal.aborted) setChecked(result);
      });
    }, REST_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text, language, isWorth]);
  const isCurrent = checked.text === text;
  return {
    faults: isWorth ? checked.faults : isWritten(draft) ? [NO_ACCOUNTS] : [],
    isCurrent: isWorth && isCurrent && !checked.failed,
    failed: isWorth && isCurrent && checked.failed,
    take: (sent, error) =>
      setChecked({ text: JSON.stringify(toRequest(sent)), faults: faultsIn(error), failed: false }),
  };
}

async function check(text: string, language: string, signal: AbortSignal): Promise<Checked> {
  // Faults for which the page has no words of its own have those of the server.
  const headers = { "accept-language": language };
  try {
    await api.validatePost(JSON.parse(text) as ValidatePost, { signal, headers });
    return { text, faults: [], failed: false };
  } catch (error) {
    const isRefused = error instanceof PostriderError && error.code === "validation_failed";
    return { text, faults: isRefused ? faultsIn(error) : [], failed: !isRefused };
  }
}
