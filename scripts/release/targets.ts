import { existsSync } from "node:fs";

const PLATFORMS = {
  "linux/amd64": ["x64", "x86_64"],
  "linux/arm64": ["arm64", "aarch64"],
} as const;

export const ALL_PLATFORMS: readonly string[] = Object.keys(PLATFORMS);

/** Another processor's programs run only if the kernel has an emulator for them. */
export function platformsHere(
  arch: string = process.arch,
  hasEmulator = (machine: string) => existsSync(`/proc/sys/fs/binfmt_misc/qemu-${machine}`),
): readonly string[] {
  return Object.entries(PLATFORMS)
    .filter(([, [own, machine]]) => own === arch || hasEmulator(machine))
    .map(([platform]) => platform);
}

export function isLocalRegistry(registry: string): boolean {
  return /^(localhost|127\.0\.0\.1):\d+(\/|$)/.test(registry);
}
