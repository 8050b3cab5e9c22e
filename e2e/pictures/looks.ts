/** Sizes, themes and languages in which a screen is shown: the same as in the design. */
export const LOOKS = {
  light: { width: 1440, height: 900, colorScheme: "light", locale: "en-GB" },
  dark: { width: 1440, height: 900, colorScheme: "dark", locale: "en-GB" },
  phone: { width: 390, height: 844, colorScheme: "light", locale: "en-GB" },
  tablet: { width: 768, height: 1024, colorScheme: "light", locale: "en-GB" },
  wide: { width: 1920, height: 1080, colorScheme: "light", locale: "en-GB" },
  "dark-tablet": { width: 768, height: 1024, colorScheme: "dark", locale: "en-GB" },
  "dark-wide": { width: 1920, height: 1080, colorScheme: "dark", locale: "en-GB" },
  "ko-light": { width: 1440, height: 900, colorScheme: "light", locale: "ko-KR" },
  "ko-dark": { width: 1440, height: 900, colorScheme: "dark", locale: "ko-KR" },
  "ko-phone": { width: 390, height: 844, colorScheme: "light", locale: "ko-KR" },
  "ko-dark-phone": { width: 390, height: 844, colorScheme: "dark", locale: "ko-KR" },
} as const;

export type LookName = keyof typeof LOOKS;

export function pictureName(screen: string, look: LookName): string {
  const { width, colorScheme, locale } = LOOKS[look];
  return `${screen}${locale === "ko-KR" ? "-ko" : ""}-${width}-${colorScheme}.png`;
}
