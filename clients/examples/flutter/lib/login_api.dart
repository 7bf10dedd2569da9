/// The login contract of Dwar (clients/login/README.md) as an app calls it: nothing of a browser in the request, tokens
/// in the body.
///
/// NOT RUN: Flutter was not in reach when this was written. It does what LoginApi.kt and LoginAPI.swift beside it do.
library;

import 'dart:async';
import 'dart:convert';
import 'dart:io';

import 'package:http/http.dart' as http;

/// A refusal that the person can be told: [code] is of the contract, [retryAfter] in seconds.
class Refused implements Exception {
  Refused(this.code, this.message, this.retryAfter);

  final String code;
  final String message;
  final int? retryAfter;

  @override
  String toString() => code;
}

/// Keep them where other apps cannot read them, such as with `flutter_secure_storage`. The device, if verify gives one,
/// also after a logout: the next login gives it to send and verify.
class Tokens {
  Tokens(this.access, this.refresh, this.device);

  final String access;
  final String refresh;
  final String? device;
}

class LoginApi {
  /// [base] is where the backend mounts the contract, such as `https://shop.example/login`.
  LoginApi(this.base, {http.Client? client}) : _client = client ?? http.Client();

  final String base;
  final http.Client _client;

  /// Sends a code, and returns the `otp_id` for [verify]. After the refusal `PROOF_REQUIRED` it needs a proof.
  Future<String> send(String phone, {String? device, String? proof}) async => (await _call('send', {
        'phone': phone,
        if (device != null) 'device': device,
        if (proof != null) 'proof': proof,
      }))['otp_id'] as String;

  Future<Tokens> verify(String phone, String code, String otpId, {String? device}) async => _tokens(await _call('verify', {
        'phone': phone,
        'code': code,
        'otp_id': otpId,
        if (device != null) 'device': device,
        'tokens': 'body',
      }));

  Future<Tokens> refresh(String refreshToken) async =>
      _tokens(await _call('refresh', {'refresh_token': refreshToken, 'tokens': 'body'}));

  Future<void> logout(Tokens tokens) =>
      _call('logout', {'access_token': tokens.access, 'refresh_token': tokens.refresh});

  Tokens _tokens(Map<String, dynamic> answer) =>
      Tokens(answer['access_token'] as String, answer['refresh_token'] as String, answer['device'] as String?);

  Future<Map<String, dynamic>> _call(String path, Map<String, String> fields) async {
    final request = http.Request('POST', Uri.parse('$base/$path'))
      ..followRedirects = false
      ..headers['Content-Type'] = 'application/json'
      ..body = jsonEncode(fields);
    final http.Response answer;
    try {
      final sent = await _client.send(request).timeout(const Duration(seconds: 40));
      answer = await http.Response.fromStream(sent);
    } on TimeoutException {
      throw Refused('NETWORK_ERROR', '', null);
    } on SocketException {
      throw Refused('NETWORK_ERROR', '', null);
    } on http.ClientException {
      throw Refused('NETWORK_ERROR', '', null);
    }
    final said = _object(answer.body);
    if (answer.statusCode >= 200 && answer.statusCode < 300) return said;
    throw Refused(
      said['code'] as String? ?? 'LOGIN_UNAVAILABLE',
      said['error'] as String? ?? '',
      int.tryParse(answer.headers['retry-after'] ?? ''),
    );
  }

  Map<String, dynamic> _object(String text) {
    try {
      return jsonDecode(text) as Map<String, dynamic>;
    } on Object {
      return {};
    }
  }
}
