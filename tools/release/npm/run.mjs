#!/usr/bin/env node
// Runs the program of this package's platform, and exits with its status.

import { spawn } from 'node:child_process';
import { constants } from 'node:os';

import { programOfPackage } from './mock-gateway.mjs';

const program = programOfPackage();
if (!program) {
  const platform = `${process.platform}-${process.arch}`;
  console.error(`mock-gateway: there is no program for ${platform}: the package @mock-gateway/${platform} is not installed; ` +
    'install it beside this one');
  process.exit(2);
}
const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
child.on('error', (error) => {
  console.error(`mock-gateway: cannot run ${program}: ${error.message}`);
  process.exit(2);
});
// A terminal sends Ctrl-C to both processes; the program decides when they end.
process.on('SIGINT', () => {});
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
