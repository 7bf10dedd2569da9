/// A form for a phone number and its code. NOT RUN: see login_api.dart.
library;

import 'package:flutter/material.dart';
import 'package:flutter/services.dart';

import 'login_api.dart';

/// Takes up to six digits. A change that brings anything else, such as a whole message, leaves the field as it was: other
/// digits of the message would be taken for its code.
final _sixDigits = TextInputFormatter.withFunction((before, after) {
  final text = after.text.trim();
  if (!RegExp(r'^[0-9]{0,6}$').hasMatch(text)) return before;
  if (text == after.text) return after;
  return TextEditingValue(text: text, selection: TextSelection.collapsed(offset: text.length));
});

class LoginPage extends StatefulWidget {
  const LoginPage({super.key, required this.api, required this.onLogin});

  final LoginApi api;

  /// Gets the tokens of a person who has just logged in.
  final ValueChanged<Tokens> onLogin;

  @override
  State<LoginPage> createState() => _LoginPageState();
}

class _LoginPageState extends State<LoginPage> {
  final _phone = TextEditingController();
  final _code = TextEditingController();
  String? _otpId;
  String? _error;
  bool _busy = false;

  @override
  void dispose() {
    _phone.dispose();
    _code.dispose();
    super.dispose();
  }

  Future<void> _do(Future<void> Function() step) async {
    setState(() {
      _busy = true;
      _error = null;
    });
    try {
      await step();
    } on Refused catch (refused) {
      if (mounted) setState(() => _error = _sentence(refused));
    } finally {
      if (mounted) setState(() => _busy = false);
    }
  }

  Future<void> _send() => _do(() async {
        final otpId = await widget.api.send(_phone.text.trim());
        if (mounted) setState(() => _otpId = otpId);
      });

  Future<void> _verify() => _do(() async {
        final tokens = await widget.api.verify(_phone.text.trim(), _code.text.trim(), _otpId!);
        TextInput.finishAutofillContext();
        widget.onLogin(tokens);
      });

  String _sentence(Refused refused) => switch (refused.code) {
        'INVALID_PHONE' => 'Enter the ten digits of your mobile number.',
        'INVALID_OTP' || 'INVALID_OTP_CODE' => 'This code is not right.',
        'OTP_NOT_FOUND' || 'VERIFY_RATE_LIMITED' => 'This code no longer works. Ask for a new one.',
        'OTP_RATE_LIMITED' || 'TOO_MANY_SENDS' => 'Too many codes. Try again in ${_wait(refused)}.',
        _ => 'Login is not possible at the moment.',
      };

  String _wait(Refused refused) {
    final seconds = refused.retryAfter ?? 60;
    return seconds < 60 ? '$seconds s' : '${(seconds / 60).ceil()} min';
  }

  @override
  Widget build(BuildContext context) => Padding(
        padding: const EdgeInsets.all(24),
        child: AutofillGroup(
          child: Column(
            mainAxisSize: MainAxisSize.min,
            crossAxisAlignment: CrossAxisAlignment.stretch,
            children: [
              TextField(
                controller: _phone,
                enabled: _otpId == null,
                keyboardType: TextInputType.phone,
                autofillHints: const [AutofillHints.telephoneNumber],
                decoration: const InputDecoration(labelText: 'Mobile number', prefixText: '+91 '),
              ),
              if (_otpId != null)
                TextField(
                  controller: _code,
                  autofocus: true,
                  keyboardType: TextInputType.number,
                  autofillHints: const [AutofillHints.oneTimeCode],
                  inputFormatters: [_sixDigits],
                  decoration: const InputDecoration(labelText: 'Code from WhatsApp or SMS'),
                ),
              if (_error != null)
                Semantics(liveRegion: true, child: Text(_error!, style: TextStyle(color: Theme.of(context).colorScheme.error))),
              const SizedBox(height: 16),
              FilledButton(
                onPressed: _busy ? null : (_otpId == null ? _send : _verify),
                child: Text(_otpId == null ? 'Send code' : 'Log in'),
              ),
              if (_otpId != null)
                TextButton(
                  onPressed: _busy ? null : () => setState(() => _otpId = null),
                  child: const Text('Change the number'),
                ),
            ],
          ),
        ),
      );
}
