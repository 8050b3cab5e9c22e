/** "3", and "1,000+" where counting stopped. */
export function countText(
  { count, isMore }: { readonly count: number; readonly isMore: boolean },
  language: string,
): string {
  return `${new Intl.NumberFormat(language).format(count)}${isMore ? "+" : ""}`;
}
