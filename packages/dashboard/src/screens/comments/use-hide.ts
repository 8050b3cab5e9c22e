import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { type Keyed, keyed } from "../../api/sending.ts";
import { commentsApi, type Place, requestAction } from "./comments-api.ts";

type HideType = "hide" | "unhide";

/**
 * Hides a comment or shows it again. The answer of the server only accepts the action, so that the
 * button is busy until the action has ended. A press after a lost answer keeps the key, unless the
 * other type was asked for in between.
 */
export function useHide(place: Place, isHiddenThere: boolean) {
  const sent = useRef<Keyed>(undefined);
  const [asked, setAsked] = useState<string>();
  const [isAsking, setAsking] = useState(false);
  const [error, setError] = useState<unknown>();
  const { data: action } = useQuery(commentsApi.action(asked));
  const request = async (type: HideType): Promise<void> => {
    sent.current = keyed(sent.current, type);
    setAsking(true);
    setError(undefined);
    try {
      setAsked((await requestAction(place, { type }, sent.current.key)).id);
      sent.current = undefined;
    } catch (caught) {
      setError(caught);
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
