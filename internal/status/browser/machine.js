// A browser on a machine that swaps memory, or on whose host it is swapped, answers after half a minute. Nothing is
// tested there: the names of the tests are appended to the file SKIPPED, as package test/machine does.

import { appendFileSync } from 'node:fs';
import { basename } from 'node:path';

const touched = 256 << 20; // bytes
const atMost = 300; // ms of processor time, several times what a machine needs that has its memory for itself

/** Ends this process with success if the machine is swapping. */
export function endIfSwapping() {
  const began = process.cpuUsage();
  const memory = Buffer.allocUnsafeSlow(touched);
  for (let i = 0; i < touched; i += 4096) memory[i] = 1;
  const { user, system } = process.cpuUsage(began);
  const took = (user + system) / 1000;
  if (took <= atMost) return;
  console.error(`this machine is swapping, so no page is tested: it needs ${took.toFixed()} ms to touch ${touched >> 20} MiB`);
  if (process.env.SKIPPED) appendFileSync(process.env.SKIPPED, `${basename(process.argv[1])}\n`);
  process.exit(0);
}
