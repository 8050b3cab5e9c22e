import type { InfiniteQueryObserverResult } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { Button } from "./button.tsx";

type List = Pick<
  InfiniteQueryObserverResult,
  "hasNextPage" | "isFetchingNextPage" | "isFetchNextPageError" | "fetchNextPage"
>;

interface MoreButtonProps {
  readonly list: List;
  /** Rows that were read are not drawn yet, so that the end of the list is not where it will be. */
  readonly isDrawing?: boolean;
  readonly small?: boolean;
  readonly block?: boolean;
  readonly className?: string | undefined;
  readonly children: ReactNode;
}

/** At the end of a list: reads on when it is seen, and when it is pressed. */
export function MoreButton({ list, isDrawing = false, ...look }: MoreButtonProps) {
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = list;
  const [button, setButton] = useState<HTMLButtonElement | null>(null);
  // What could not be read is read again when a person asks for it.
  const isReady = !isDrawing && !isFetchingNextPage && !isFetchNextPageError;
  useEffect(() => {
    if (button === null || !isReady) return undefined;
    const observer = new IntersectionObserver((seen) => {
      if (seen.some(({ isIntersecting }) => isIntersecting)) void fetchNextPage();
    });
    observer.observe(button);
    return () => observer.disconnect();
  }, [button, isReady, fetchNextPage]);
  if (!hasNextPage) return null;
  return (
    <Button
      {...look}
      ref={setButton}
      busy={isFetchingNextPage}
      onClick={() => void fetchNextPage()}
    />
  );
}
