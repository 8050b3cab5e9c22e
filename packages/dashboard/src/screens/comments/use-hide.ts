import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { createKey, isUnanswered } from "../../api/sending.ts";
import { commentsApi, type Place, requestAction } from "./comments-api.ts";

type HideType = "hide" | "unhide";

/**
 * Hides a comment or shows it again. The answer of the server only accepts the action, so that the
 * button is busy until the action has ended. A press after a lost answer keeps the key.
 */
export function useHide(place: Place, isHiddenThere: boolean) {
  const keys = useRef(new Map<HideType, string>());
  const [asked, setAsked] = useState<string>();
  const [isAsking, setAsking] = useState(false);
  const [error, setError] = useState<unknown>();
  const { data: action } = useQuery(commentsApi.action(asked));
  const request = async (type: HideType): Promise<void> => {
    const wasAsked = keys.current.has(type);
    const key = keys.current.get(type) ?? createKey();
    keys.current.set(type, key);
    setAsking(true);
    setError(undefined);
    try {
      setAsked((await requestAction(place, { type }, key)).id);
      keys.current.delete(type);
    } catch (caught) {
      setError(caught);
      if (!isUnanswered(caught, wasAsked)) keys.current.delete(type);
    } finally {
      setAsking(false);
    }
  };
  const isPending = asked !== undefined && (action === undefined || action.status === "pending");
  // The platform's list may be behind its answer.
  const isHidden = action?.status === "succeeded" ? action.type === "hide" : isHiddenThere;
  return {
    isHidden,
    isBusy: isAsking || isPending,
    error,
    failure: action?.status === "failed" ? action.error : null,
    toggle: () => void request(isHidden ? "unhide" : "hide"),
  };
}
