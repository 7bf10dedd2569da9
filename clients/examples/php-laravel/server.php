<?php

// A backend for the suite, and how the classes beside it are put into an application. `php server.php` serves; in an
// application of your own, the bindings belong into a service provider and the routes into routes/api.php, whose group
// encrypts no cookies.

use App\Dwar\AuthenticateByPhone;
use App\Dwar\Dwar;
use App\Dwar\LoginController;
use App\Dwar\LoginCookies;
use Illuminate\Contracts\Http\Kernel;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Route;

if (PHP_SAPI === 'cli') {
    putenv('PHP_CLI_SERVER_WORKERS=16');
    pcntl_exec(PHP_BINARY, ['-d', 'error_reporting=8191', '-d', 'display_errors=0', '-S', '127.0.0.1:' . getenv('PORT'), __FILE__]);
}

// Laravel of Composer, or of Debian: php-laravel-framework and php-guzzlehttp-guzzle.
if (is_file(__DIR__ . '/vendor/autoload.php')) {
    require __DIR__ . '/vendor/autoload.php';
} else {
    require 'Illuminate/autoload.php';
    require 'GuzzleHttp/autoload.php';
}
spl_autoload_register(static function (string $class): void {
    if (str_starts_with($class, 'App\\Dwar\\')) {
        require __DIR__ . '/' . substr($class, strlen('App\\Dwar\\')) . '.php';
    }
});

$base = sys_get_temp_dir() . '/dwar-laravel-' . getenv('PORT');
foreach (['bootstrap/cache', 'config', 'storage/framework/cache/data', 'storage/framework/views', 'storage/logs'] as $folder) {
    is_dir("$base/$folder") || @mkdir("$base/$folder", 0700, true);
}
$app = new Illuminate\Foundation\Application($base);
$app->singleton(Kernel::class, static fn ($app) => new class ($app, $app['router']) extends Illuminate\Foundation\Http\Kernel {
    protected $bootstrappers = [
        Illuminate\Foundation\Bootstrap\RegisterFacades::class,
        Illuminate\Foundation\Bootstrap\RegisterProviders::class,
        Illuminate\Foundation\Bootstrap\BootProviders::class,
    ];
});
$app->singleton(Illuminate\Contracts\Debug\ExceptionHandler::class, Illuminate\Foundation\Exceptions\Handler::class);
$app->instance('config', new Illuminate\Config\Repository([
    'app' => ['debug' => false, 'env' => 'production', 'locale' => 'en', 'fallback_locale' => 'en', 'providers' => [
        Illuminate\Cache\CacheServiceProvider::class,
        Illuminate\Filesystem\FilesystemServiceProvider::class,
        Illuminate\Foundation\Providers\FoundationServiceProvider::class,
        Illuminate\Translation\TranslationServiceProvider::class,
        Illuminate\View\ViewServiceProvider::class,
    ]],
    'cache' => ['default' => 'file', 'prefix' => 'x', 'stores' => ['file' => ['driver' => 'file', 'path' => "$base/storage/framework/cache/data"]]],
    'logging' => ['default' => 'errorlog', 'channels' => ['errorlog' => ['driver' => 'errorlog']]],
    'view' => ['paths' => [], 'compiled' => "$base/storage/framework/views"],
]));

$app->singleton(Dwar::class, static fn () => new Dwar(
    getenv('DWAR_URL'),
    getenv('DWAR_API_KEY'),
    getenv('DWAR_PROJECT_ID'),
    getenv('DWAR_SECRET'),
    getenv('DWAR_MODE') ?: 'live',
));
$app->singleton(LoginCookies::class, static fn () => new LoginCookies([getenv('ORIGIN')]));

$kernel = $app->make(Kernel::class);
$kernel->bootstrap();
Route::post('/login/{step}', LoginController::class);
$me = static fn (Request $request) => ['identity_id' => $request->attributes->get('identity_id')];
Route::match(['get', 'post'], '/me', $me)->middleware(AuthenticateByPhone::class);
Route::match(['get', 'post'], '/claims', $me)->middleware(AuthenticateByPhone::class . ':claims');

// PHP's own server names the path as the script.
$_SERVER = ['SCRIPT_NAME' => '/index.php', 'SCRIPT_FILENAME' => '/index.php', 'PHP_SELF' => '/index.php'] + $_SERVER;
$request = Request::capture();
$answer = $kernel->handle($request)->send();
$kernel->terminate($request, $answer);
