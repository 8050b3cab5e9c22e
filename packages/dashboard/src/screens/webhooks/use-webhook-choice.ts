import { useSearchParams } from "wouter";

type Name = "endpoint" | "delivery";

/** The address of the screen with an endpoint, and one of its deliveries. */
export function hrefOf(endpoint: string, delivery?: string): string {
  const query = new URLSearchParams({ endpoint, ...(delivery === undefined ? {} : { delivery }) });
  return `/webhooks?${query}`;
}

/** What is shown lies in the address, so that reload and "back" keep it. */
export function useWebhookChoice(): Readonly<Record<Name, string | undefined>> {
  const [parameters] = useSearchParams();
  return {
    endpoint: parameters.get("endpoint") ?? undefined,
    delivery: parameters.get("delivery") ?? undefined,
  };
}
