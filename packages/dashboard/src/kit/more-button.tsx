import type { InfiniteQueryObserverResult } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { Button } from "./button.tsx";

type List = Pick<
  InfiniteQueryObserverResult,
  "hasNextPage" | "isFetchingNextPage" | "isFetchNextPageError" | "fetchNextPage"
>;

interface MoreButtonProps {
  readonly list: List;
  readonly small?: boolean;
  readonly block?: boolean;
  readonly className?: string | undefined;
  readonly children: ReactNode;
}

/** At the end of a list: reads on when it is seen, and when it is pressed. */
export function MoreButton({ list, ...look }: MoreButtonProps) {
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = list;
  const [button, setButton] = useState<HTMLButtonElement | null>(null);
  // What could not be read is read again when a person asks for it.
  const isReady = !isFetchingNextPage && !isFetchNextPageError;
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
