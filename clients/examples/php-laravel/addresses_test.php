<?php

// Which addresses share their codes, by the table of the suite: `php addresses_test.php`.

use App\Dwar\LoginController;

require __DIR__ . '/LoginController.php';

// As Laravel does.
set_error_handler(static fn (int $level, string $message) => throw new ErrorException($message));

$networks = [];
$failed = [];
foreach (json_decode(file_get_contents(__DIR__ . '/../../suite/login/addresses.json'), true) as $case) {
    foreach ($case['addresses'] as $address) {
        // Laravel gives an address without the port, the zone and blanks.
        if ($case['network'] !== null && filter_var($address, FILTER_VALIDATE_IP) === false) {
            continue;
        }
        $network = LoginController::network($address);
        if (($network === null) !== ($case['network'] === null)) {
            $failed[] = "$address: " . ($network ?? 'no network');
        } elseif ($network !== null && ($networks[$network] ??= $case['network']) !== $case['network']) {
            $failed[] = "$address has the codes of {$networks[$network]}";
        }
        $of[$case['network'] ?? ''][$network ?? ''] = true;
    }
}
foreach ($of as $case => $found) {
    if (count($found) !== 1) {
        $failed[] = "$case: " . implode(' and ', array_keys($found));
    }
}
if (LoginController::network(null) !== null) {
    $failed[] = 'an empty text is not an address';
}
echo $failed === [] ? "ok      addresses\n" : 'not ok  addresses: ' . implode(', ', $failed) . "\n";
exit($failed === [] ? 0 : 1);
