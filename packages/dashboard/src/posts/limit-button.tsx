import { RotateCcw } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "../kit/button.tsx";
import { distanceOf } from "../time/format-time.ts";
import { useNearTime } from "../time/near-time.ts";
import { useSeconds } from "../time/use-seconds.ts";
import { kitWords } from "../words/kit-words.ts";
import { useWords } from "../words/use-words.ts";
import { postWords } from "./post-words.ts";

interface LimitButtonProps {
  /** When the limit ends, as far as it is known. */
  readonly until: string | null | undefined;
  readonly small: boolean;
  readonly kind?: "primary" | "plain";
  /** The button that retries, once that helps. */
  readonly children: ReactNode;
}

/** While a limit lasts, a retry would only fail again: the button says from when on it helps. */
export function LimitButton({ until, ...rest }: LimitButtonProps) {
  return until ? <Countdown until={until} {...rest} /> : rest.children;
}

/** Is drawn each second. */
function Countdown({ until, children, ...look }: LimitButtonProps & { readonly until: string }) {
  const words = useWords(postWords);
  const { inTime, distance } = useWords(kitWords);
  const nearTime = useNearTime();
  const msLeft = Date.parse(until) - useSeconds() * 1000;
  if (msLeft <= 0) return children;
  return (
    <>
      <Button {...look} icon={RotateCcw} disabled>
        {words.retryAt(nearTime(until))}
      </Button>
      <span className="xs muted num">{inTime(distanceOf(msLeft, distance))}</span>
    </>
  );
}
